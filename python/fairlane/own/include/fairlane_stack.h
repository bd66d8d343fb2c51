/* fairlane_stack.h: transport stacks written in C (C99 or later, or C++) as endpoints of fairlane.
 *
 * A stack does no input and output of its own: datagrams, the time and the application's data go in; datagrams and a deadline come out.
 * A shared library exports one function, fairlane_stack_get, which gives the table of each stack it holds:
 *
 *     const struct fairlane_stack *fairlane_stack_get(uint32_t index) { return index == 0 ? &mine : NULL; }
 *
 * Build it with   cc -std=c11 -O2 -shared -fPIC -I"$(python -c 'import fairlane; print(fairlane.cc_include())')" mine.c -o libmine.so
 * and name it with   fairlane run scenario.toml --plugin libmine.so   Flows then have   stack.NAME = { parameter = value }.
 *
 * Units: sizes are bytes of the payload of UDP, times nanoseconds of simulated time since the run began, rates bits per second.
 *
 * Each end of each flow has a state of its own: `state_size` bytes, zero at first, aligned to 16, which fairlane allocates and gives back.
 * Ends of different runs are called from different threads at the same time: keep everything in the state, nothing in globals.
 * The result of a run must depend on the arguments alone: no clock, no rand(); `seed` is there for random numbers of one's own.
 *
 * After any call but `state`, `timeout` and `failure`, fairlane takes datagrams with `transmit` until it returns 0, then asks for the next
 * deadline. A deadline that is due is followed by `on_timeout` at once. The number of such calls at one instant is bounded.
 */
#ifndef FAIRLANE_STACK_H
#define FAIRLANE_STACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define FAIRLANE_STACK_EXPORT __declspec(dllexport)
#else
#define FAIRLANE_STACK_EXPORT __attribute__((visibility("default")))
#endif

/* Version of this interface. Fields are only ever added at the end of fairlane_stack: `size` tells which ones a library knows. */
#define FAIRLANE_STACK_VERSION 1u

/* "None": no deadline, no slow-start threshold. As `bytes` of write: data without end. */
#define FAIRLANE_STACK_NONE UINT64_MAX

/* Bits of fairlane_stack_seat.flags. */
#define FAIRLANE_STACK_RECEIVES 1u /* the receiving end of the flow */
#define FAIRLANE_STACK_OPENS 2u    /* the end that opens the connection */
#define FAIRLANE_STACK_CLOSES 4u   /* the connection is closed when all data of the closed flow are acknowledged */
#define FAIRLANE_STACK_AMOUNTS 8u  /* the application writes amounts of data; else packets, each of which is a datagram of its own */

/* Bits of fairlane_stack_sent.flags. */
#define FAIRLANE_STACK_DATA 1u   /* it carries data of the application; else an acknowledgment, the handshake and the like */
#define FAIRLANE_STACK_NUMBER 2u /* `number` is that of the newest packet of the application in it, from 0 */

/* A parameter, written in scenarios as stack.NAME = { name = value }. */
struct fairlane_stack_param {
    const char *name;
    const char *doc;
    double value; /* default */
    double min;   /* -INFINITY: no bound */
    double max;   /* INFINITY: no bound */
};

/* Place of one end in a scenario. */
struct fairlane_stack_seat {
    uint64_t seed;    /* of this end */
    const char *flow; /* its name, as long as the call */
    uint32_t flags;
    uint32_t reserved;
};

/* What a datagram that is sent is. */
struct fairlane_stack_sent {
    uint64_t number;
    uint32_t flags;
    uint32_t ecn; /* ECN field of the IP header: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE */
};

/* Counters and state of one end, for tables and series. Leave what the stack does not know zero. */
struct fairlane_stack_state {
    uint64_t lost_packets;
    uint64_t lost_bytes;
    uint64_t cuts;     /* reductions of the window of all kinds */
    uint64_t ecn_cuts; /* those in answer to marks, part of `cuts` */
    uint64_t acked;    /* bytes acknowledged */
    uint64_t cwnd;
    uint64_t ssthresh; /* FAIRLANE_STACK_NONE: infinite */
    uint64_t in_flight;
    uint64_t srtt;        /* ns; 0 before the first sample */
    uint64_t rtt;         /* ns: newest sample of the round-trip time */
    uint64_t rtt_samples; /* number of samples so far */
    uint64_t rate;        /* of pacing; 0: none */
    uint64_t target_rate; /* that a control of media allows its encoder; 0: none */
    uint32_t mtu;         /* longest payload of a datagram on this path */
    uint8_t connected;    /* 1 once the handshake is complete */
    uint8_t finished;     /* 1 once every byte of a closed flow is acknowledged */
    uint8_t reserved[2];
};

struct fairlane_stack {
    uint32_t version; /* FAIRLANE_STACK_VERSION */
    uint32_t size;    /* sizeof(struct fairlane_stack) */
    const char *name; /* in scenarios */
    const char *doc;  /* one sentence */
    const struct fairlane_stack_param *params;
    uint32_t param_count;
    uint32_t header; /* bytes that a datagram carries on the wire besides its payload: 28 for IPv4 and UDP */
    size_t state_size;

    /* Required: fills the state; returns NULL, or what is wrong. `params`: values in the order of the table. */
    const char *(*init)(void *state, const struct fairlane_stack_seat *seat, const double *params);
    /* May be NULL: called before the memory of the state is given back. */
    void (*free)(void *state);
    /* Required: opens the connection; called at the end that does so. */
    void (*connect)(void *state, uint64_t now);
    /* Required: a datagram arrives, with its ECN field. */
    void (*handle)(void *state, uint64_t now, const uint8_t *datagram, size_t len, uint32_t ecn);
    /* Required: writes the next datagram, of at most `room` bytes, and what it is; returns its length, 0 for none. */
    size_t (*transmit)(void *state, uint64_t now, uint8_t *into, size_t room, struct fairlane_stack_sent *sent);
    /* Required: the next deadline, or FAIRLANE_STACK_NONE. */
    uint64_t (*timeout)(const void *state);
    /* Required: the deadline is due. */
    void (*on_timeout)(void *state, uint64_t now);
    /* Required: the application writes; `fin`: no more data follows. */
    void (*write)(void *state, uint64_t now, uint64_t bytes, uint32_t fin);
    /* Required: the application stops; data that are not sent are discarded. */
    void (*stop)(void *state, uint64_t now);
    /* Required: payload handed to the application since the last call. */
    uint64_t (*delivered)(void *state);
    /* Required. */
    void (*state)(const void *state, struct fairlane_stack_state *into);
    /* May be NULL: why the connection ended, if it ended by an error; else NULL. */
    const char *(*failure)(const void *state);
};

/* The one symbol of a library: table number `index`, NULL behind the last. Tables live as long as the library. */
FAIRLANE_STACK_EXPORT const struct fairlane_stack *fairlane_stack_get(uint32_t index);

#ifdef __cplusplus
}
#endif

/* Both sides agree on the layout (64-bit). */
#if UINTPTR_MAX == UINT64_MAX && !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct fairlane_stack_param) == 40, "fairlane_stack_param");
_Static_assert(sizeof(struct fairlane_stack_seat) == 24, "fairlane_stack_seat");
_Static_assert(sizeof(struct fairlane_stack_sent) == 16, "fairlane_stack_sent");
_Static_assert(sizeof(struct fairlane_stack_state) == 112, "fairlane_stack_state");
_Static_assert(sizeof(struct fairlane_stack) == 144, "fairlane_stack");
#endif

#endif
