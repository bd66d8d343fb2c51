/* fairlane_cc.h: congestion controls written in C (C99 or later, or C++) for fairlane.
 *
 * A shared library exports one function, fairlane_cc_get, which gives the table of each algorithm it holds:
 *
 *     const struct fairlane_cc *fairlane_cc_get(uint32_t index) { return index == 0 ? &mine : NULL; }
 *
 * Build it with   cc -std=c11 -O2 -ffp-contract=off -shared -fPIC -I"$(python -c 'import fairlane; print(fairlane.cc_include())')" mine.c -o libmine.so
 * and name it with   fairlane run scenario.toml --plugin libmine.so   or   fairlane.load_cc("libmine.so").
 *
 * Units: sizes are payload bytes, times nanoseconds of simulated time since the run began, rates bits per second.
 *
 * Every flow has a state of its own: `state_size` bytes, zero at first, aligned to 16, which fairlane allocates and gives back.
 * Flows of different runs are called from different threads at the same time: keep everything in the state, nothing in globals.
 * The result of a run must depend on the arguments alone: no clock, no rand(); `seed` is there for random numbers of one's own.
 * cwnd is never below one segment (`mss`): a smaller one ends the run with an error that names the flow and the time.
 */
#ifndef FAIRLANE_CC_H
#define FAIRLANE_CC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define FAIRLANE_CC_EXPORT __declspec(dllexport)
#else
#define FAIRLANE_CC_EXPORT __attribute__((visibility("default")))
#endif

/* Version of this interface. Fields are only ever added at the end of fairlane_cc: `size` tells which ones a library knows. */
#define FAIRLANE_CC_VERSION 1u

/* "None", "without bound", "arbitrarily high". */
#define FAIRLANE_CC_NONE UINT64_MAX

/* What an algorithm asks for: bits of fairlane_cc.flags. */
#define FAIRLANE_CC_WANTS_RATE 1u      /* rate samples, on_lost, on_sent, and every acknowledgment, in recovery too */
#define FAIRLANE_CC_WANTS_EVERY_ACK 2u /* on_sent, and every acknowledgment, in recovery too */
#define FAIRLANE_CC_PACING 4u          /* segments spread in time, whatever the parameters of TCP say */
#define FAIRLANE_CC_ECT1 8u            /* data carries ECT(1) where ECN is in use, instead of ECT(0) */
#define FAIRLANE_CC_OWNS_RECOVERY 16u  /* it decides alone what may be in flight during recovery */

/* Bits of fairlane_cc_ack.flags. */
#define FAIRLANE_CC_CWND_LIMITED 1u /* the window was what limited the sender (RFC 7661 section 4.3) */
#define FAIRLANE_CC_APP_LIMITED 2u  /* the sender ran out of data */
/* 4u is reserved: always 0 */
#define FAIRLANE_CC_IN_RECOVERY 8u  /* losses are being repaired */
#define FAIRLANE_CC_MAY_GROW 16u    /* the window may grow: always set, except during fast recovery (FAIRLANE_CC_WANTS_EVERY_ACK) */

/* fairlane_cc_event.kind */
#define FAIRLANE_CC_FAST_RETRANSMIT 0u /* duplicate or selective acknowledgments tell of a loss (RFC 5681 section 3.2) */
#define FAIRLANE_CC_RESTART 1u         /* the same under recovery = "tahoe", which starts again from one segment */
#define FAIRLANE_CC_TIMEOUT 2u         /* the retransmission timer went off (RFC 5681 section 3.1) */
#define FAIRLANE_CC_ECN 3u             /* an ECN echo (RFC 3168 section 6.1.2) */

/* fairlane_cc_config.loss_basis: what a loss takes its share of. */
#define FAIRLANE_CC_BASIS_FLIGHT 0u  /* bytes in flight (RFC 5681 equation 4) */
#define FAIRLANE_CC_BASIS_CWND 1u    /* the smaller of cwnd and send_window */
#define FAIRLANE_CC_BASIS_SMALLER 2u /* the smallest of all three */

/* A parameter, written in scenarios as cc.NAME = { name = value }. */
struct fairlane_cc_param {
    const char *name;
    const char *doc;
    double value; /* default */
    double min;   /* -INFINITY: no bound */
    double max;   /* INFINITY: no bound */
};

/* The connection, for init. */
struct fairlane_cc_config {
    uint32_t mss;             /* largest payload of a segment */
    uint32_t byte_counting;   /* segments an acknowledgment counts for at most (RFC 3465); 0: each for one, whatever it covers */
    uint32_t cwnd_validation; /* 1: acknowledgments without FAIRLANE_CC_CWND_LIMITED should not grow the window (RFC 7661) */
    uint32_t loss_basis;      /* FAIRLANE_CC_BASIS_... */
    uint64_t initial_ssthresh; /* FAIRLANE_CC_NONE: arbitrarily high */
    uint64_t send_window;      /* bound of what may be in flight, whatever cwnd says; FAIRLANE_CC_NONE: none */
    uint64_t seed;             /* of this flow's algorithm in this run */
    const char *flow;          /* name of the flow; only valid during init */
};

/* Delivery rate over the time it took to deliver what was in flight (draft-ietf-ccwg-bbr section 4.1). */
struct fairlane_cc_rate {
    uint64_t delivered;       /* bytes delivered over the interval */
    uint64_t interval_ns;     /* the longer of the intervals over which they were sent and acknowledged */
    uint64_t rate;            /* bit/s; 0: the interval was too short to tell */
    uint64_t prior_delivered; /* bytes delivered when the newest segment delivered now was sent */
    uint64_t tx_in_flight;    /* bytes in flight when it was sent, itself included */
    uint64_t lost;            /* bytes deemed lost since it was sent */
    uint64_t delivered_ce;    /* bytes delivered with CE marks since it was sent */
    uint64_t newly_delivered; /* bytes this acknowledgment delivered */
    uint64_t newly_lost;      /* bytes deemed lost with it */
    uint32_t app_limited;     /* 1: the sender had run out of data when it was sent */
    uint32_t reserved;
};

/* An acknowledgment of new data. */
struct fairlane_cc_ack {
    uint64_t now_ns;
    uint64_t acked;      /* bytes newly acknowledged, cumulatively */
    uint64_t sacked;     /* bytes newly covered by SACK blocks */
    uint64_t in_flight;  /* bytes in flight after it */
    uint64_t delivered;  /* bytes acknowledged or SACKed since the flow began */
    uint64_t lost;       /* bytes deemed lost since the flow began (FAIRLANE_CC_WANTS_RATE) */
    uint64_t ce_bytes;   /* of the bytes newly delivered, those reported as marked */
    uint64_t round;      /* round trips since the flow began */
    uint64_t rtt_ns;     /* round-trip time it measured; FAIRLANE_CC_NONE: it did not */
    uint64_t srtt_ns;    /* smoothed round-trip time; FAIRLANE_CC_NONE before the first measurement */
    uint64_t min_rtt_ns; /* smallest round-trip time seen; FAIRLANE_CC_NONE before the first */
    uint64_t one_way_ns; /* the way of the data alone, as timestamps tell it (RFC 6817 section 4.1); FAIRLANE_CC_NONE without them */
    const struct fairlane_cc_rate *rate; /* with FAIRLANE_CC_WANTS_RATE, if something was delivered; else NULL */
    uint32_t flags;
    uint32_t reserved;
};

/* A sign of congestion, told once for each loss event. */
struct fairlane_cc_event {
    uint64_t now_ns;
    uint64_t flight;   /* bytes in flight, without those of limited transmit (RFC 5681 equation 4) */
    uint32_t kind;     /* FAIRLANE_CC_FAST_RETRANSMIT ... */
    uint32_t repeated; /* 1: another timeout of the same segment, for which RFC 5681 section 3.1 holds ssthresh */
};

/* The end of fast recovery. */
struct fairlane_cc_recovery {
    uint64_t now_ns;
    uint64_t bound;       /* upper bound of the window now (RFC 6582 section 3.2 step 3); FAIRLANE_CC_NONE: none */
    uint64_t deflated;    /* bytes that partial acknowledgments take from the window */
    uint32_t to_ssthresh; /* 1: the window becomes ssthresh, before the two above */
    uint32_t reserved;
};

/* A segment deemed lost. */
struct fairlane_cc_lost {
    uint64_t now_ns;
    uint64_t bytes;        /* its payload */
    uint64_t tx_in_flight; /* bytes in flight when it was sent, itself included */
    uint64_t lost;         /* bytes deemed lost since, itself included */
    uint32_t app_limited;  /* 1: the sender had run out of data when it was sent */
    uint32_t reserved;
};

/* An algorithm. Those marked * must be there, the others may be NULL. */
struct fairlane_cc {
    uint32_t version;     /* FAIRLANE_CC_VERSION */
    uint32_t size;        /* sizeof(struct fairlane_cc) */
    const char *name;     /* * in scenarios: letters, digits, - and _ */
    const char *doc;      /* one sentence, for `fairlane explain` */
    const char *recovery; /* scheme it implies: "tahoe", "reno", "newreno", "sack", "fack"; NULL: "sack" */
    const char *ecn;      /* what it needs: "off", "classic", "dctcp", "accecn"; NULL: "off" */
    const struct fairlane_cc_param *params;
    uint32_t param_count;
    uint32_t flags;       /* FAIRLANE_CC_WANTS_RATE ... */
    size_t state_size;    /* * */

    /* Fills a new state; params in the order declared. NULL, or a sentence that says what is wrong with them. */
    const char *(*init)(void *state, const struct fairlane_cc_config *config, const double *params);
    /* Makes the zeroed `to` a copy with the same future as `from`; NULL: its bytes are copied. */
    void (*clone)(void *to, const void *from);
    /* Gives back what the state holds, not the state itself. */
    void (*free)(void *state);

    void (*on_established)(void *state, uint64_t now_ns, uint64_t window);       /* * the window becomes `window` */
    void (*on_ack)(void *state, const struct fairlane_cc_ack *ack);               /* * */
    void (*on_congestion)(void *state, const struct fairlane_cc_event *event);    /* * */
    void (*on_recovery_exit)(void *state, const struct fairlane_cc_recovery *exit);
    void (*on_idle_restart)(void *state, uint64_t now_ns, uint64_t window);       /* the window shrinks to it, if it is larger */
    void (*on_syn_loss)(void *state, uint64_t ssthresh);                          /* ssthresh becomes this */
    void (*on_sent)(void *state, uint64_t now_ns, uint64_t bytes, uint64_t in_flight);
    void (*on_lost)(void *state, const struct fairlane_cc_lost *lost);
    void (*settle)(void *state); /* reductions so far can no longer be undone */
    void (*undo)(void *state);   /* reductions since settle were a mistake (RFC 4015) */

    uint64_t (*cwnd)(const void *state);        /* * bytes */
    uint64_t (*ssthresh)(const void *state);    /* bytes; NULL: FAIRLANE_CC_NONE */
    uint64_t (*pacing_rate)(const void *state); /* bit/s; 0, or NULL: none of its own */
};

/* The one symbol of a library: table number `index`, NULL behind the last. Tables live as long as the library. */
FAIRLANE_CC_EXPORT const struct fairlane_cc *fairlane_cc_get(uint32_t index);

#ifdef __cplusplus
}
#endif

/* Both sides agree on the layout (64-bit). */
#if UINTPTR_MAX == UINT64_MAX && !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct fairlane_cc_param) == 40, "fairlane_cc_param");
_Static_assert(sizeof(struct fairlane_cc_config) == 48, "fairlane_cc_config");
_Static_assert(sizeof(struct fairlane_cc_rate) == 80, "fairlane_cc_rate");
_Static_assert(sizeof(struct fairlane_cc_ack) == 112, "fairlane_cc_ack");
_Static_assert(sizeof(struct fairlane_cc_event) == 24, "fairlane_cc_event");
_Static_assert(sizeof(struct fairlane_cc_recovery) == 32, "fairlane_cc_recovery");
_Static_assert(sizeof(struct fairlane_cc_lost) == 40, "fairlane_cc_lost");
_Static_assert(sizeof(struct fairlane_cc) == 192, "fairlane_cc");
#endif

#endif
