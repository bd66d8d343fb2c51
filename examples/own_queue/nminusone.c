/* The Management queue of Syla, Alla and Xhabafti (2022), through fairlane_queue.h: an arriving packet is put at the tail, and removed
 * again if the queue is now as long as its limit.
 *
 * cc -std=c11 -O2 -ffp-contract=off -shared -fPIC -I"$(python -c 'import fairlane; print(fairlane.cc_include())')" nminusone.c -o libnminusone.so
 * fairlane run examples/own_queue/scenario.toml --plugin ./libnminusone.so
 */
#include "fairlane_queue.h"

struct nminusone {
    struct fairlane_fifo waiting;
    uint64_t limit;
};

static const char *init(void *state, const struct fairlane_queue_site *site, const struct fairlane_queue_value *params) {
    struct nminusone *q = state;
    (void)site;
    q->limit = params[0].whole;
    return params[0].unit == FAIRLANE_QUEUE_PACKETS ? NULL : "limit counts packets: write 50p";
}

static void clone(void *to, const void *from) {
    struct nminusone *copy = to;
    const struct nminusone *q = from;
    copy->limit = q->limit;
    fairlane_fifo_copy(&copy->waiting, &q->waiting);
}

static void give_back(void *state) { fairlane_fifo_free(&((struct nminusone *)state)->waiting); }

static void enqueue(void *state, const struct fairlane_queue_packet *packet, struct fairlane_queue_cx *cx) {
    struct nminusone *q = state;
    fairlane_fifo_push(&q->waiting, packet->id);
    if (q->waiting.count >= q->limit) cx->drop(cx, fairlane_fifo_pop_last(&q->waiting), FAIRLANE_QUEUE_OVERFLOW);
}

static uint32_t dequeue(void *state, struct fairlane_queue_cx *cx) {
    (void)cx;
    return fairlane_fifo_pop(&((struct nminusone *)state)->waiting);
}

static const struct fairlane_queue_param params[] = {{"limit", "One more than what waits.", "50p", 0, 0}};

static const struct fairlane_queue table = {
    .version = FAIRLANE_QUEUE_VERSION,
    .size = sizeof(struct fairlane_queue),
    .name = "NMinusOne",
    .doc = "Tail drop that keeps limit - 1 packets (Syla, Alla and Xhabafti 2022, part 3).",
    .params = params,
    .param_count = 1,
    .state_size = sizeof(struct nminusone),
    .init = init,
    .clone = clone,
    .free = give_back,
    .enqueue = enqueue,
    .dequeue = dequeue,
};

const struct fairlane_queue *fairlane_queue_get(uint32_t index) { return index == 0 ? &table : NULL; }
