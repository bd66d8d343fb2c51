// A fat-tree with a permutation of TCP flows in csg-htsim: its TCP (NewReno without SACK), a queue and a pipe for each direction of each link.
// Arguments: k, rate (bit/s), delay (ps), queue (packets), segment with headers (bytes), bytes of a flow (0: endless), duration (s).
#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <vector>

static uint64_t hops = 0;

// Counts the packets that cross a link.
class Wire : public Pipe {
public:
    explicit Wire(simtime_picosec delay) : Pipe(delay) {}
    void receivePacket(Packet& pkt) override {
        ++hops;
        Pipe::receivePacket(pkt);
    }
};

// One direction of a link.
struct Link {
    std::unique_ptr<Queue> queue;
    std::unique_ptr<Wire> wire;
};

int main(int argc, char** argv) {
    if (argc < 8) {
        return 2;
    }
    const int k = std::atoi(argv[1]), half = k / 2, hosts = k * half * half;
    const linkspeed_bps rate = std::strtoull(argv[2], nullptr, 10);
    const simtime_picosec delay = std::strtoull(argv[3], nullptr, 10);
    const int length = std::atoi(argv[5]);
    const uint64_t bytes = std::strtoull(argv[6], nullptr, 10);
    const double duration = std::atof(argv[7]);
    // The library talks on standard output.
    std::streambuf* const out = std::cout.rdbuf();
    std::ostringstream talk;
    std::cout.rdbuf(talk.rdbuf());

    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(duration));
    Packet::set_packet_size(length);
    const mem_b room = mem_b(std::atoi(argv[4])) * length;
    // Up and down of each link: below edge switches, below aggregation switches, below the core. Numbers are those of the lower end and its upper port.
    auto layer = [&] {
        std::vector<std::vector<Link>> all(2);
        for (auto& direction : all) {
            for (int i = 0; i < hosts; ++i) {
                direction.push_back({std::make_unique<Queue>(rate, room, events, nullptr), std::make_unique<Wire>(delay)});
            }
        }
        return all;
    };
    auto access = layer(), middle = layer(), core = layer();

    std::mt19937 random(1);
    std::vector<int> to(hosts);
    for (int i = 0; i < hosts; ++i) {
        to[i] = i;
    }
    // A cycle through all hosts: nobody sends to itself (Sattolo).
    for (int i = hosts - 1; i > 0; --i) {
        std::swap(to[i], to[random() % i]);
    }
    auto add = [](Route& route, Link& link) {
        route.push_back(link.queue.get());
        route.push_back(link.wire.get());
    };
    auto between = [&](int a, int b) {
        auto route = std::make_unique<Route>();
        const int edge_a = a / half, edge_b = b / half, pod_a = edge_a / half, pod_b = edge_b / half;
        const int up = int(random() % half), over = int(random() % half);
        add(*route, access[0][a]);
        if (edge_a != edge_b) {
            add(*route, middle[0][edge_a * half + up]);
            if (pod_a != pod_b) {
                add(*route, core[0][(pod_a * half + up) * half + over]);
                add(*route, core[1][(pod_b * half + up) * half + over]);
            }
            add(*route, middle[1][edge_b * half + up]);
        }
        add(*route, access[1][b]);
        return route;
    };
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    std::vector<std::unique_ptr<TcpSrc>> senders;
    std::vector<std::unique_ptr<TcpSink>> receivers;
    std::vector<std::unique_ptr<Route>> routes;
    for (int i = 0; i < hosts; ++i) {
        senders.push_back(std::make_unique<TcpSrc>(nullptr, nullptr, events));
        receivers.push_back(std::make_unique<TcpSink>());
        if (bytes > 0) {
            senders.back()->set_flowsize(bytes);
        }
        timers.registerTcp(*senders.back());
        routes.push_back(between(i, to[i]));
        Route& there = *routes.back();
        there.push_back(receivers.back().get());
        routes.push_back(between(to[i], i));
        Route& back = *routes.back();
        back.push_back(senders.back().get());
        senders.back()->connect(there, back, *receivers.back(), 0);
        talk.str("");
    }
    // Zero would be no end.
    while (duration > 0 && events.doNextEvent()) {
    }
    std::cout.rdbuf(out);
    std::cout << hops << std::endl;
    // Without the destructors, which take the library's lists apart.
    std::_Exit(0);
}
