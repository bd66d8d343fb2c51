/* AIMD(a, b) of Floyd, Handley and Padhye (2000), through fairlane_cc.h. Windows are kept in segments with fractions.
 *
 * cc -std=c11 -O2 -ffp-contract=off -shared -fPIC -I"$(python -c 'import fairlane; print(fairlane.cc_include())')" aimd.c -o libaimd.so
 * fairlane run examples/own_cc/scenario.toml --plugin ./libaimd.so
 */
#include "fairlane_cc.h"

#include <math.h>

struct aimd {
    double a, b;
    double cwnd, ssthresh;
    double prior_cwnd, prior_ssthresh; /* before the first cut that may be undone; 0: none */
    struct fairlane_cc_config tcp;
};

static double segments(const struct aimd *s, uint64_t bytes) {
    return bytes == FAIRLANE_CC_NONE ? INFINITY : (double)bytes / s->tcp.mss;
}

static double smaller(double x, double y) { return x < y ? x : y; }

static double larger(double x, double y) { return x > y ? x : y; }

static const char *init(void *state, const struct fairlane_cc_config *config, const double *params) {
    struct aimd *s = state;
    s->a = params[0];
    s->b = params[1];
    s->tcp = *config;
    s->tcp.flow = NULL;
    s->cwnd = 1;
    s->ssthresh = segments(s, config->initial_ssthresh);
    return s->a == 0 && s->b == 0 ? "a and b are both 0: the window would never change" : NULL;
}

static void on_established(void *state, uint64_t now_ns, uint64_t window) {
    struct aimd *s = state;
    (void)now_ns;
    s->cwnd = larger(segments(s, window), 1);
}

static void on_ack(void *state, const struct fairlane_cc_ack *ack) {
    struct aimd *s = state;
    double n = 1;
    if (s->tcp.cwnd_validation && !(ack->flags & FAIRLANE_CC_CWND_LIMITED)) return;
    if (s->tcp.byte_counting) n = smaller(segments(s, ack->acked), s->tcp.byte_counting);
    if (s->cwnd < s->ssthresh) {
        /* Slow start (RFC 5681 section 3.1); what is left beyond the threshold counts for congestion avoidance. */
        double up = s->tcp.byte_counting ? smaller(n, s->ssthresh - s->cwnd) : n;
        s->cwnd += up;
        n -= up;
        if (n <= 0 || ((ack->flags & FAIRLANE_CC_IN_RECOVERY) && n > 1)) return;
    }
    s->cwnd += s->a * n / s->cwnd;
}

static void on_congestion(void *state, const struct fairlane_cc_event *event) {
    struct aimd *s = state;
    double flight = segments(s, event->flight), window = smaller(s->cwnd, segments(s, s->tcp.send_window));
    double basis = s->tcp.loss_basis == FAIRLANE_CC_BASIS_FLIGHT ? flight
                   : s->tcp.loss_basis == FAIRLANE_CC_BASIS_CWND ? window
                                                                 : smaller(flight, window);
    if (s->prior_cwnd == 0) {
        s->prior_cwnd = s->cwnd;
        s->prior_ssthresh = s->ssthresh;
    }
    if (!event->repeated) s->ssthresh = larger(basis * (1 - s->b), 2);
    s->cwnd = event->kind == FAIRLANE_CC_TIMEOUT || event->kind == FAIRLANE_CC_RESTART ? 1 : s->ssthresh;
}

static void on_recovery_exit(void *state, const struct fairlane_cc_recovery *exit) {
    struct aimd *s = state;
    if (exit->to_ssthresh) s->cwnd = s->ssthresh;
    s->cwnd = larger(smaller(s->cwnd - (double)exit->deflated / s->tcp.mss, segments(s, exit->bound)), 1);
}

static void on_idle_restart(void *state, uint64_t now_ns, uint64_t window) {
    struct aimd *s = state;
    (void)now_ns;
    s->cwnd = larger(smaller(s->cwnd, segments(s, window)), 1);
}

static void on_syn_loss(void *state, uint64_t ssthresh) {
    struct aimd *s = state;
    s->ssthresh = segments(s, ssthresh);
}

static void settle(void *state) {
    struct aimd *s = state;
    s->prior_cwnd = 0;
}

static void undo(void *state) {
    struct aimd *s = state;
    if (s->prior_cwnd == 0) return;
    s->cwnd = larger(s->cwnd, s->prior_cwnd);
    s->ssthresh = larger(s->ssthresh, s->prior_ssthresh);
    s->prior_cwnd = 0;
}

static uint64_t cwnd(const void *state) {
    const struct aimd *s = state;
    return (uint64_t)(s->cwnd * s->tcp.mss);
}

static uint64_t ssthresh(const void *state) {
    const struct aimd *s = state;
    return isinf(s->ssthresh) ? FAIRLANE_CC_NONE : (uint64_t)(s->ssthresh * s->tcp.mss);
}

static const struct fairlane_cc_param params[] = {
    {"a", "Segments the window grows in a round trip.", 1, 0, 100},
    {"b", "Share of the window that a loss takes.", 0.5, 0, 1},
};

static const struct fairlane_cc aimd = {
    .version = FAIRLANE_CC_VERSION,
    .size = sizeof(struct fairlane_cc),
    .name = "AIMD",
    .doc = "Additive increase by a segments a round trip, multiplicative decrease by the share b (Floyd, Handley and Padhye 2000).",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .state_size = sizeof(struct aimd),
    .init = init,
    .on_established = on_established,
    .on_ack = on_ack,
    .on_congestion = on_congestion,
    .on_recovery_exit = on_recovery_exit,
    .on_idle_restart = on_idle_restart,
    .on_syn_loss = on_syn_loss,
    .settle = settle,
    .undo = undo,
    .cwnd = cwnd,
    .ssthresh = ssthresh,
};

const struct fairlane_cc *fairlane_cc_get(uint32_t index) { return index == 0 ? &aimd : NULL; }
