/* A transport with a fixed window, as small as fairlane_stack.h allows: an example for binding a stack of one's own.
 *
 *     cc -std=c11 -O2 -shared -fPIC -I"$(python -c 'import fairlane; print(fairlane.cc_include())')" window.c -o libwindow.so
 *     fairlane run scenario.toml --plugin ./libwindow.so          with   stack.window = { packets = 32, timeout = 0.2 }
 *
 * A packet of data has a number and up to 1200 bytes; the receiver acknowledges each by its number. What is not acknowledged after the
 * timeout is sent again. At most `packets` are in flight. There is no handshake, no encryption and no congestion control.
 */
#include "fairlane_stack.h"

#include <string.h>

enum { MOST = 256, PAYLOAD = 1200, HEADER = 5, DATA = 1, ACK = 2 };

struct packet {
    uint64_t sent; /* time of the last transmission */
    uint32_t length;
    uint8_t waits, lost, again;
};

struct window {
    uint32_t flags, packets;
    uint64_t timeout;
    /* Sender: bytes that wait, the oldest packet that is not acknowledged, and the next new one. */
    uint64_t left;
    uint32_t oldest, next;
    struct packet flying[MOST];
    uint64_t acked, lost_packets, lost_bytes, in_flight, rtt, samples;
    int closing;
    /* Receiver: the first number that is missing, which of the next ones are there, numbers to acknowledge, bytes for the application. */
    uint32_t missing, to_ack[MOST], acks;
    uint8_t here[MOST];
    uint64_t delivered;
};

static void put(uint8_t *at, uint32_t n) {
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(n >> (8 * i));
}

static uint32_t get(const uint8_t *at) { return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24; }

static const char *init(void *state, const struct fairlane_stack_seat *seat, const double *params) {
    struct window *w = state;
    w->flags = seat->flags;
    w->packets = (uint32_t)params[0];
    w->timeout = (uint64_t)(params[1] * 1e9);
    return w->packets == 13 ? "thirteen packets are unlucky" : NULL;
}

static void connect_(void *state, uint64_t now) { (void)state, (void)now; }

static void handle(void *state, uint64_t now, const uint8_t *datagram, size_t len, uint32_t ecn) {
    struct window *w = state;
    (void)ecn;
    if (len < HEADER) return;
    uint32_t n = get(datagram + 1);
    struct packet *p = &w->flying[n % MOST];
    if (datagram[0] == DATA && w->acks < MOST) {
        w->to_ack[w->acks++] = n;
        if (n - w->missing < MOST && !w->here[n % MOST]) {
            w->here[n % MOST] = 1;
            w->delivered += len - HEADER;
            while (w->here[w->missing % MOST]) w->here[w->missing++ % MOST] = 0;
        }
    } else if (datagram[0] == ACK && n - w->oldest < w->next - w->oldest && p->waits) {
        if (!p->again) w->rtt = now - p->sent, w->samples++;
        if (!p->lost) w->in_flight -= p->length;
        w->acked += p->length;
        p->waits = 0;
        while (w->oldest != w->next && !w->flying[w->oldest % MOST].waits) w->oldest++;
    }
}

static size_t data(struct window *w, uint64_t now, uint32_t n, uint8_t *into, struct fairlane_stack_sent *sent) {
    struct packet *p = &w->flying[n % MOST];
    p->sent = now, p->lost = 0;
    w->in_flight += p->length;
    sent->flags = FAIRLANE_STACK_DATA;
    into[0] = DATA;
    put(into + 1, n);
    memset(into + HEADER, 0, p->length);
    return HEADER + p->length;
}

static size_t transmit(void *state, uint64_t now, uint8_t *into, size_t room, struct fairlane_stack_sent *sent) {
    struct window *w = state;
    if (room < HEADER + PAYLOAD) return 0;
    if (w->acks) {
        into[0] = ACK;
        put(into + 1, w->to_ack[--w->acks]);
        return HEADER;
    }
    for (uint32_t n = w->oldest; n != w->next; n++)
        if (w->flying[n % MOST].waits && w->flying[n % MOST].lost) return data(w, now, n, into, sent);
    if (!w->left || w->next - w->oldest >= w->packets) return 0;
    uint32_t length = w->left < PAYLOAD ? (uint32_t)w->left : PAYLOAD;
    if (w->left != FAIRLANE_STACK_NONE) w->left -= length;
    w->flying[w->next % MOST] = (struct packet){.length = length, .waits = 1};
    return data(w, now, w->next++, into, sent);
}

static uint64_t timeout(const void *state) {
    const struct window *w = state;
    uint64_t first = FAIRLANE_STACK_NONE;
    for (uint32_t n = w->oldest; n != w->next; n++) {
        const struct packet *p = &w->flying[n % MOST];
        if (p->waits && !p->lost && p->sent + w->timeout < first) first = p->sent + w->timeout;
    }
    return first;
}

static void on_timeout(void *state, uint64_t now) {
    struct window *w = state;
    for (uint32_t n = w->oldest; n != w->next; n++) {
        struct packet *p = &w->flying[n % MOST];
        if (!p->waits || p->lost || p->sent + w->timeout > now) continue;
        p->lost = p->again = 1;
        w->lost_packets++, w->lost_bytes += p->length, w->in_flight -= p->length;
    }
}

static void write_(void *state, uint64_t now, uint64_t bytes, uint32_t fin) {
    struct window *w = state;
    (void)now;
    w->left = bytes == FAIRLANE_STACK_NONE ? bytes : w->left + bytes;
    w->closing |= fin != 0;
}

static void stop(void *state, uint64_t now) { (void)now, ((struct window *)state)->left = 0; }

static uint64_t delivered(void *state) {
    uint64_t bytes = ((struct window *)state)->delivered;
    ((struct window *)state)->delivered = 0;
    return bytes;
}

static void state_(const void *state, struct fairlane_stack_state *s) {
    const struct window *w = state;
    s->lost_packets = w->lost_packets, s->lost_bytes = w->lost_bytes, s->acked = w->acked;
    s->cwnd = (uint64_t)w->packets * PAYLOAD, s->in_flight = w->in_flight, s->mtu = HEADER + PAYLOAD;
    s->srtt = s->rtt = w->rtt, s->rtt_samples = w->samples;
    s->connected = 1, s->finished = w->closing && !w->left && w->oldest == w->next;
}

static const struct fairlane_stack_param params[] = {
    {"packets", "Packets in flight at most.", 32, 1, MOST},
    {"timeout", "Seconds after which a packet is sent again.", 0.2, 0.001, 60},
};

static const struct fairlane_stack window = {
    .version = FAIRLANE_STACK_VERSION, .size = sizeof(struct fairlane_stack), .name = "window",
    .doc = "A transport with a fixed window of packets.", .params = params, .param_count = 2, .header = 28,
    .state_size = sizeof(struct window), .init = init, .connect = connect_, .handle = handle, .transmit = transmit, .timeout = timeout,
    .on_timeout = on_timeout, .write = write_, .stop = stop, .delivered = delivered, .state = state_,
};

const struct fairlane_stack *fairlane_stack_get(uint32_t index) { return index == 0 ? &window : NULL; }
