// One dumbbell in ns-3: reads the scenario from standard input, prints what was measured as `name value` lines.
//
// Input, one line each, in any order:
//   rate BPS | delay SECONDS | duration SECONDS | run N
//   tcp CLASS RECOVERY DELACK_COUNT MIN_RTO [ecn]
//   queue CLASS [ATTRIBUTE=VALUE ...]
//   flow tcp ACCESS_DELAY START
//   flow udp ACCESS_DELAY START BPS PAYLOAD
// Every flow has hosts of its own; the access links on both sides run at 100 Mbit/s, those on the right take 1 ms.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

struct FlowInput
{
    std::string kind;
    double delay = 0.001;
    double start = 0;
    uint64_t rate = 0;
    uint32_t payload = 0;
};

struct Input
{
    uint64_t rate = 10000000;
    double delay = 0.02;
    double duration = 100;
    uint32_t run = 1;
    std::string control = "ns3::TcpLinuxReno";
    std::string recovery = "ns3::TcpPrrRecovery";
    uint32_t ackEvery = 1;
    std::string minRto = "1s";
    bool ecn = false;
    std::string queue = "ns3::FifoQueueDisc";
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<FlowInput> flows;
};

static Input
Read(std::istream& in)
{
    Input out;
    std::string line;
    while (std::getline(in, line))
    {
        std::istringstream words(line);
        std::string key;
        words >> key;
        if (key == "rate") words >> out.rate;
        else if (key == "delay") words >> out.delay;
        else if (key == "duration") words >> out.duration;
        else if (key == "run") words >> out.run;
        else if (key == "tcp")
        {
            std::string ecn;
            words >> out.control >> out.recovery >> out.ackEvery >> out.minRto >> ecn;
            out.ecn = ecn == "ecn";
        }
        else if (key == "queue")
        {
            words >> out.queue;
            for (std::string item; words >> item;)
            {
                auto split = item.find('=');
                out.attributes.emplace_back(item.substr(0, split), item.substr(split + 1));
            }
        }
        else if (key == "flow")
        {
            FlowInput flow;
            words >> flow.kind >> flow.delay >> flow.start;
            if (flow.kind == "udp") words >> flow.rate >> flow.payload;
            out.flows.push_back(flow);
        }
    }
    return out;
}

/// Exact time average of a number that changes in steps.
struct Level
{
    double since = 0;
    double value = 0;
    double area = 0;
    double squares = 0;
    double peak = 0;

    void Set(double next)
    {
        double now = Simulator::Now().GetSeconds();
        area += (now - since) * value;
        squares += (now - since) * value * value;
        since = now;
        value = next;
        peak = std::max(peak, next);
    }
};

static Level g_queue;
static Level g_device;
static uint64_t g_sentBytes = 0;
static std::vector<uint64_t> g_flowDrops;
static std::vector<uint64_t> g_timeouts;
static std::vector<uint64_t> g_recoveries;

static void QueueChanged(uint32_t, uint32_t now) { g_queue.Set(now); }
static void DeviceChanged(uint32_t, uint32_t now) { g_device.Set(now); }
static void Sent(Ptr<const Packet> packet) { g_sentBytes += packet->GetSize(); }

static void
Dropped(Ptr<const QueueDiscItem> item)
{
    // Hosts of flow i are 10.0.i.1 and 10.1.i.2.
    auto v4 = DynamicCast<const Ipv4QueueDiscItem>(item);
    if (v4)
    {
        g_flowDrops[(v4->GetHeader().GetSource().Get() >> 8) & 0xff]++;
    }
}

static void
StateChanged(uint32_t flow, TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    g_timeouts[flow] += now == TcpSocketState::CA_LOSS;
    g_recoveries[flow] += now == TcpSocketState::CA_RECOVERY;
}

static void
Watch(Ptr<BulkSendApplication> application, uint32_t flow)
{
    application->GetSocket()->TraceConnectWithoutContext("CongState", MakeBoundCallback(&StateChanged, flow));
}

int
main()
{
    Input input = Read(std::cin);
    uint32_t n = input.flows.size();
    g_flowDrops.resize(256);
    g_timeouts.resize(n);
    g_recoveries.resize(n);

    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(input.run);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(input.control)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName(input.recovery)));
    if (input.ecn)
    {
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(input.ackEvery));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Time(input.minRto)));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", QueueSizeValue(QueueSize("100000p")));

    NodeContainer routers;
    routers.Create(2);
    NodeContainer left;
    left.Create(n);
    NodeContainer right;
    right.Create(n);
    InternetStackHelper stack;
    stack.InstallAll();

    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", DataRateValue(DataRate(input.rate)));
    p2p.SetChannelAttribute("Delay", TimeValue(Seconds(input.delay)));
    NetDeviceContainer middle = p2p.Install(routers);
    Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(middle.Get(0));
    // The least a device may hold below its queue disc.
    device->GetQueue()->SetMaxSize(QueueSize("1p"));
    device->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&DeviceChanged));
    device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Sent));

    TrafficControlHelper control;
    // The helper takes attributes in pairs at compile time only; the object is made here instead.
    ObjectFactory factory;
    factory.SetTypeId(input.queue);
    for (const auto& item : input.attributes)
    {
        factory.Set(item.first, StringValue(item.second));
    }
    Ptr<QueueDisc> queue = factory.Create<QueueDisc>();
    queue->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&QueueChanged));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    Ptr<TrafficControlLayer> layer = routers.Get(0)->GetObject<TrafficControlLayer>();
    layer->SetRootQueueDiscOnDevice(device, queue);

    Ipv4AddressHelper address;
    address.SetBase("10.2.0.0", "255.255.255.0");
    address.Assign(middle);
    control.Uninstall(middle.Get(1));

    ApplicationContainer senders;
    ApplicationContainer sinks;
    p2p.SetDeviceAttribute("DataRate", DataRateValue(DataRate("100Mbps")));
    for (uint32_t i = 0; i < n; ++i)
    {
        const FlowInput& flow = input.flows[i];
        p2p.SetChannelAttribute("Delay", TimeValue(Seconds(flow.delay)));
        NetDeviceContainer a = p2p.Install(left.Get(i), routers.Get(0));
        p2p.SetChannelAttribute("Delay", TimeValue(MilliSeconds(1)));
        NetDeviceContainer b = p2p.Install(routers.Get(1), right.Get(i));
        address.SetBase(("10.0." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
        address.Assign(a);
        address.SetBase(("10.1." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
        Ipv4Address target = address.Assign(b).GetAddress(1);
        // Only the bottleneck has a queue disc.
        control.Uninstall(a);
        control.Uninstall(b);

        // With these addresses and ports no two of twenty flows share a bucket of the fair queues' hash.
        uint16_t port = 5000;
        InetSocketAddress to(target, port);
        std::string factoryName = flow.kind == "tcp" ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        PacketSinkHelper sink(factoryName, InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(right.Get(i)));
        if (flow.kind == "tcp")
        {
            BulkSendHelper bulk(factoryName, to);
            bulk.SetAttribute("MaxBytes", UintegerValue(0));
            bulk.SetAttribute("SendSize", UintegerValue(1448));
            senders.Add(bulk.Install(left.Get(i)));
            Simulator::Schedule(Seconds(flow.start) + NanoSeconds(1),
                                &Watch,
                                DynamicCast<BulkSendApplication>(senders.Get(i)),
                                i);
        }
        else
        {
            OnOffHelper cbr(factoryName, to);
            cbr.SetConstantRate(DataRate(flow.rate), flow.payload);
            senders.Add(cbr.Install(left.Get(i)));
        }
        senders.Get(i)->SetStartTime(Seconds(flow.start));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(input.duration));
    Simulator::Run();
    g_queue.Set(g_queue.value);
    g_device.Set(g_device.value);

    double mean = g_queue.area / input.duration;
    std::printf("utilisation %.12g\n", g_sentBytes * 8.0 / (input.rate * input.duration));
    std::printf("queue_mean %.12g\n", mean);
    std::printf("queue_std %.12g\n", std::sqrt(std::max(0.0, g_queue.squares / input.duration - mean * mean)));
    std::printf("queue_peak %.12g\n", g_queue.peak);
    std::printf("device_mean %.12g\n", g_device.area / input.duration);
    uint64_t drops = 0;
    for (const auto& reason : queue->GetStats().nDroppedPacketsBeforeEnqueue)
    {
        std::printf("reason.%s %u\n", reason.first.c_str(), reason.second);
        drops += reason.second;
    }
    for (const auto& reason : queue->GetStats().nDroppedPacketsAfterDequeue)
    {
        std::printf("reason.%s %u\n", reason.first.c_str(), reason.second);
        drops += reason.second;
    }
    std::printf("drops %lu\n", drops);
    uint64_t marks = 0;
    for (const auto& reason : queue->GetStats().nMarkedPackets)
    {
        marks += reason.second;
    }
    std::printf("marks %lu\n", marks);
    for (uint32_t i = 0; i < n; ++i)
    {
        double goodput = DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx() * 8.0 / input.duration;
        std::printf("flow %u %s %.12g %lu %lu %lu\n",
                    i,
                    input.flows[i].kind.c_str(),
                    goodput,
                    g_flowDrops[i],
                    g_timeouts[i],
                    g_recoveries[i]);
    }
    Simulator::Destroy();
    std::printf("end\n");
    return 0;
}
