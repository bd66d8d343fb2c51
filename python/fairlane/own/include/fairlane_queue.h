/* fairlane_queue.h: queue disciplines written in C (C99 or later, or C++) for fairlane.
 *
 * A shared library exports one function, fairlane_queue_get, which gives the table of each discipline it holds:
 *
 *     const struct fairlane_queue *fairlane_queue_get(uint32_t index) { return index == 0 ? &mine : NULL; }
 *
 * Build it with   cc -std=c11 -O2 -ffp-contract=off -shared -fPIC -I"$(python -c 'import fairlane; print(fairlane.cc_include())')" mine.c -o libmine.so
 * and name it with   fairlane run scenario.toml --plugin ./libmine.so   or   fairlane.load_queue("libmine.so").
 *
 * Units: lengths are bytes on the wire, times picoseconds of simulated time since the run began, rates bits per second.
 *
 * fairlane keeps the packets, the discipline says what becomes of them by their numbers: each is sent or dropped once. Numbers are given
 * anew when a packet has left, and stay below the most packets that the queue ever held, so they can be places in arrays.
 *
 * Every queue has a state of its own: `state_size` bytes, zero at first, aligned to 16, which fairlane allocates and gives back.
 * Queues of different runs are called from different threads at the same time: keep everything in the state, nothing in globals.
 * The result of a run must depend on the arguments alone: no clock, no rand(); cx->random is there for that.
 * A broken rule (a number that is no packet's, nothing sent although packets wait) ends the run with an error that names queue and time.
 */
#ifndef FAIRLANE_QUEUE_H
#define FAIRLANE_QUEUE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define FAIRLANE_QUEUE_EXPORT __declspec(dllexport)
#else
#define FAIRLANE_QUEUE_EXPORT __attribute__((visibility("default")))
#endif

/* Version of this interface. Fields are only ever added at the end of fairlane_queue: `size` tells which ones a library knows. */
#define FAIRLANE_QUEUE_VERSION 1u

#define FAIRLANE_QUEUE_NONE UINT32_MAX  /* no packet */
#define FAIRLANE_QUEUE_NEVER UINT64_MAX /* no time */

/* What a discipline does that a plain FIFO does not: bits of fairlane_queue.flags. */
#define FAIRLANE_QUEUE_REORDERS 1u /* packets of one flow may overtake one another */

/* Why a packet is dropped; counted apart. */
#define FAIRLANE_QUEUE_OVERFLOW 0u /* the buffer was full */
#define FAIRLANE_QUEUE_EARLY 1u    /* a random early drop */
#define FAIRLANE_QUEUE_FORCED 2u   /* in the forced region of the law, such as above RED's maximum threshold */
#define FAIRLANE_QUEUE_HEAD 3u     /* at the head, as CoDel does */
#define FAIRLANE_QUEUE_EVICTED 4u  /* from the longest queue, to make room */

/* Bits of fairlane_queue_packet.bits. */
#define FAIRLANE_QUEUE_UDP 1u  /* UDP, else TCP */
#define FAIRLANE_QUEUE_DATA 2u /* it carries data: no pure acknowledgment, SYN or FIN */
#define FAIRLANE_QUEUE_BACK 4u /* it travels from the flow's receiver to its sender */

/* A parameter. Its default says of what kind it is: "50p" or "64KiB" is a length, "5ms" a time, "10Mbit/s" a rate, "0.02" a number. */
struct fairlane_queue_param {
    const char *name;
    const char *doc;   /* what it means, for `fairlane explain` */
    const char *value; /* its default */
    double min, max;   /* of a number: the range allowed; both 0: any */
};

/* What a parameter is. */
#define FAIRLANE_QUEUE_NUMBER 0u
#define FAIRLANE_QUEUE_PACKETS 1u /* a length in packets ... */
#define FAIRLANE_QUEUE_BYTES 2u   /* ... or in bytes, as it was written */
#define FAIRLANE_QUEUE_TIME 3u    /* ps */
#define FAIRLANE_QUEUE_RATE 4u    /* bit/s */
struct fairlane_queue_value {
    double number;  /* of any kind */
    uint64_t whole; /* of all but numbers */
    uint32_t unit;  /* FAIRLANE_QUEUE_NUMBER ... */
    uint32_t reserved;
};

/* Where a queue is put. Valid during init. */
struct fairlane_queue_site {
    uint64_t rate;            /* of the link, bit/s */
    uint64_t delay_ps;        /* its propagation delay */
    const char *const *flows; /* names of the flows of the network, by their numbers */
    uint32_t flow_count;
    uint32_t reserved;
};

/* A packet. */
struct fairlane_queue_packet {
    uint64_t arrived_ps; /* when it came to this queue */
    uint32_t id;         /* its number */
    uint32_t length;
    uint32_t flow; /* number of its flow */
    uint8_t dscp;  /* RFC 2474 */
    uint8_t ecn;   /* ECN field: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced (RFC 3168 section 5) */
    uint8_t bits;  /* FAIRLANE_QUEUE_UDP ... */
    uint8_t reserved;
};

/* The surroundings of a call, and what can be done in it. */
struct fairlane_queue_cx {
    uint64_t now_ps;
    uint64_t bytes;   /* that wait, the arriving packet among them */
    uint32_t packets; /* likewise */
    uint32_t reserved;
    void *host;
    /* Drops a packet that arrives or waits. */
    void (*drop)(struct fairlane_queue_cx *cx, uint32_t id, uint32_t why);
    /* Sets congestion experienced: 1; or 0, and nothing is done, if the packet is not ECN-capable: drop it instead. */
    int (*mark)(struct fairlane_queue_cx *cx, uint32_t id);
    /* Looks at a packet that arrives or waits. */
    void (*look)(struct fairlane_queue_cx *cx, uint32_t id, struct fairlane_queue_packet *packet);
    /* From the queue's own random stream, uniform in [0, 1). */
    double (*random)(struct fairlane_queue_cx *cx);
};

/* A discipline. Those marked * must be there, the others may be NULL. */
struct fairlane_queue {
    uint32_t version; /* FAIRLANE_QUEUE_VERSION */
    uint32_t size;    /* sizeof(struct fairlane_queue) */
    const char *name; /* * in scenarios: letters, digits, - and _ */
    const char *doc;  /* one sentence, for `fairlane explain` */
    const struct fairlane_queue_param *params;
    const char *const *gauges; /* names of inner variables, which become columns of the link's time series */
    uint32_t param_count;
    uint32_t gauge_count;
    uint32_t flags; /* FAIRLANE_QUEUE_REORDERS */
    uint32_t reserved;
    size_t state_size; /* * */

    /* Fills a new state; params in the order declared. NULL, or a sentence that says what is wrong with them. */
    const char *(*init)(void *state, const struct fairlane_queue_site *site, const struct fairlane_queue_value *params);
    /* Makes the zeroed `to` a copy with the same future as `from`; NULL: its bytes are copied. */
    void (*clone)(void *to, const void *from);
    /* Gives back what the state holds, not the state itself. */
    void (*free)(void *state);

    /* * A packet arrives: it is kept, or dropped with cx->drop. */
    void (*enqueue)(void *state, const struct fairlane_queue_packet *packet, struct fairlane_queue_cx *cx);
    /* * The packet to send; FAIRLANE_QUEUE_NONE if none waits, or a shaper holds them. */
    uint32_t (*dequeue)(void *state, struct fairlane_queue_cx *cx);
    /* Shapers: the time from which on dequeue may be asked; 0: at once. */
    uint64_t (*ready)(const void *state);
    /* Called at time zero and at each time it gives, which is after now; FAIRLANE_QUEUE_NEVER: not again. */
    uint64_t (*timer)(void *state, struct fairlane_queue_cx *cx);
    /* The inner variable of this place among `gauges`. */
    double (*gauge)(const void *state, uint32_t index);
};

/* The one symbol of a library: table number `index`, NULL behind the last. Tables live as long as the library. */
FAIRLANE_QUEUE_EXPORT const struct fairlane_queue *fairlane_queue_get(uint32_t index);

/* A FIFO of packet numbers for the state of a discipline; all zero it is empty. */
struct fairlane_fifo {
    uint32_t *at;
    uint32_t first, count, room; /* room is a power of two, or 0 */
};

static inline void fairlane_fifo_push(struct fairlane_fifo *f, uint32_t id) {
    if (f->count == f->room) {
        uint32_t room = f->room ? 2 * f->room : 64, i;
        uint32_t *at = (uint32_t *)malloc(room * sizeof(uint32_t));
        if (at == NULL) abort();
        for (i = 0; i < f->count; i++) at[i] = f->at[(f->first + i) & (f->room - 1)];
        free(f->at);
        f->at = at;
        f->first = 0;
        f->room = room;
    }
    f->at[(f->first + f->count++) & (f->room - 1)] = id;
}

/* The oldest. */
static inline uint32_t fairlane_fifo_pop(struct fairlane_fifo *f) {
    uint32_t id;
    if (f->count == 0) return FAIRLANE_QUEUE_NONE;
    id = f->at[f->first];
    f->first = (f->first + 1) & (f->room - 1);
    f->count--;
    return id;
}

/* The newest. */
static inline uint32_t fairlane_fifo_pop_last(struct fairlane_fifo *f) {
    if (f->count == 0) return FAIRLANE_QUEUE_NONE;
    f->count--;
    return f->at[(f->first + f->count) & (f->room - 1)];
}

/* For `clone` and `free` of the discipline. */
static inline void fairlane_fifo_copy(struct fairlane_fifo *to, const struct fairlane_fifo *from) {
    *to = *from;
    if (from->room == 0) return;
    to->at = (uint32_t *)malloc(from->room * sizeof(uint32_t));
    if (to->at == NULL) abort();
    memcpy(to->at, from->at, from->room * sizeof(uint32_t));
}

static inline void fairlane_fifo_free(struct fairlane_fifo *f) {
    free(f->at);
}

#ifdef __cplusplus
}
#endif

/* Both sides agree on the layout (64-bit). */
#if UINTPTR_MAX == UINT64_MAX && !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct fairlane_queue_param) == 40, "fairlane_queue_param");
_Static_assert(sizeof(struct fairlane_queue_value) == 24, "fairlane_queue_value");
_Static_assert(sizeof(struct fairlane_queue_site) == 32, "fairlane_queue_site");
_Static_assert(sizeof(struct fairlane_queue_packet) == 24, "fairlane_queue_packet");
_Static_assert(sizeof(struct fairlane_queue_cx) == 64, "fairlane_queue_cx");
_Static_assert(sizeof(struct fairlane_queue) == 128, "fairlane_queue");
#endif

#endif
