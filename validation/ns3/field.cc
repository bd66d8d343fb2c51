// Stations in a field with TCP over routes of several hops, in ns-3.37: the other side of `python -m validation.ns3.field`. Reads the network from standard input:
//   stations N, then N lines "x y"; hops M, then M lines "at to next"; flows K, then K lines "from to start".
// Writes the bytes that each flow's receiver has after the warm-up, one line a flow; then for each station the data frames that it sent and those acknowledged.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{
double g_threshold = 10; // as a ratio; 0: ns-3's own error rates of OFDM

struct Counts
{
    uint64_t data = 0, acked = 0;
};
std::vector<Counts> g_counts;

void Sent(uint32_t i, Ptr<const Packet> packet, double)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    g_counts[i].data += header.IsData();
}

void Acked(uint32_t i, Ptr<const WifiMpdu>)
{
    g_counts[i].acked++;
}
}

// Takes the place of the library's function, which knows no threshold for DSSS (see stations.cc).
double ns3::ErrorRateModel::GetChunkSuccessRate(WifiMode mode, const WifiTxVector& tx, double snr, uint64_t bits, uint8_t antennas, WifiPpduField field, uint16_t station) const
{
    if (g_threshold > 0)
    {
        return snr >= g_threshold ? 1 : 0;
    }
    return DoGetChunkSuccessRate(mode, tx, snr, bits, antennas, field, station);
}

int main(int argc, char** argv)
{
    std::string rate = "2", standard = "b", model = "two_ray";
    uint32_t run = 1, limit = 100, segment = 512, window = 16384, rts = 999999;
    double warmup = 3, seconds = 12, power = 15, sensitivity = -89, threshold = 10, figure = 10, frequency = 2.4e9, cca = 0;
    CommandLine line(__FILE__);
    line.AddValue("rate", "of data, in Mbit/s", rate);
    line.AddValue("standard", "a or b", standard);
    line.AddValue("model", "two_ray (antennas 1.5 m high) or free_space", model);
    line.AddValue("frequency", "Hz", frequency);
    line.AddValue("power", "of all transmitters, dBm", power);
    line.AddValue("figure", "noise figure, dB", figure);
    line.AddValue("cca", "dBm; 0: the sensitivity", cca);
    line.AddValue("run", "RngRun", run);
    line.AddValue("limit", "of a station's queue in packets", limit);
    line.AddValue("segment", "bytes of a segment", segment);
    line.AddValue("window", "bytes in flight at most", window);
    line.AddValue("rts", "frames of more bytes go behind an RTS", rts);
    line.AddValue("warmup", "seconds before the measured ones", warmup);
    line.AddValue("seconds", "measured", seconds);
    line.AddValue("sensitivity", "dBm", sensitivity);
    line.AddValue("threshold", "dB; -100: ns-3's error rates (a)", threshold);
    line.Parse(argc, argv);
    g_threshold = threshold <= -100 ? 0 : std::pow(10, threshold / 10);
    cca = cca == 0 ? sensitivity : cca;
    RngSeedManager::SetRun(run);

    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, limit)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100000)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    // ns-3.37's TCP crashes where the receive window is the limit, so it is the send buffer.
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(10 * window));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpLinuxReno")));
    Config::SetDefault("ns3::ArpCache::AliveTimeout", TimeValue(Seconds(100000)));

    std::string word;
    uint32_t n = 0, count = 0;
    std::cin >> word >> n;
    NodeContainer nodes;
    nodes.Create(n);
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < n; i++)
    {
        double x, y;
        std::cin >> x >> y;
        places->Add(Vector(x, y, 1.5));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);

    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    if (model == "two_ray")
    {
        auto ground = CreateObject<TwoRayGroundPropagationLossModel>();
        ground->SetFrequency(frequency);
        ground->SetMinDistance(0.01);
        channel->SetPropagationLossModel(ground);
    }
    else
    {
        auto space = CreateObject<FriisPropagationLossModel>();
        space->SetFrequency(frequency);
        channel->SetPropagationLossModel(space);
    }
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.Set("TxPowerStart", DoubleValue(power));
    phy.Set("TxPowerEnd", DoubleValue(power));
    phy.Set("RxNoiseFigure", DoubleValue(figure));
    phy.Set("CcaEdThreshold", DoubleValue(cca));
    phy.Set("CcaSensitivity", DoubleValue(cca));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "Threshold", DoubleValue(4), "MinimumRssi", DoubleValue(sensitivity));
    WifiHelper wifi;
    wifi.SetStandard(standard == "b" ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211a);
    const std::string prefix = standard == "b" ? "DsssRate" : "OfdmRate";
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(prefix + rate + "Mbps"),
                                 "ControlMode",
                                 StringValue(prefix + (standard == "b" ? "1Mbps" : "6Mbps")),
                                 "RtsCtsThreshold",
                                 UintegerValue(rts),
                                 "MaxSsrc",
                                 UintegerValue(7),
                                 "MaxSlrc",
                                 UintegerValue(7));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);

    // Peers are made known beforehand, so that only these rates are basic ones (see stations.cc): else all that the standard makes mandatory are, and an ACK goes
    // as fast as the data.
    Simulator::Schedule(Seconds(0), [=]() {
        for (uint32_t i = 0; i < n; i++)
        {
            auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
            auto peers = device->GetRemoteStationManager();
            for (const char* basic : standard == "b" ? std::vector<const char*>{"1"} : std::vector<const char*>{"6", "12", "24"})
            {
                peers->AddBasicMode(WifiMode(prefix + basic + "Mbps"));
            }
            for (uint32_t j = 0; j < n; j++)
            {
                auto peer = Mac48Address::ConvertFrom(devices.Get(j)->GetAddress());
                for (const WifiMode& mode : device->GetPhy()->GetModeList())
                {
                    if (j != i && mode.GetUniqueName().rfind(prefix, 0) == 0)
                    {
                        peers->AddSupportedMode(peer, mode);
                    }
                }
                if (j != i)
                {
                    peers->RecordDisassociated(peer);
                }
            }
        }
    });

    InternetStackHelper internet;
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // Which puts FqCoDel above the queues of the MAC.
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper known;
    known.PopulateNeighborCache();

    std::cin >> word >> count;
    for (uint32_t k = 0; k < count; k++)
    {
        uint32_t at, to, next;
        std::cin >> at >> to >> next;
        auto table = routing.GetStaticRouting(nodes.Get(at)->GetObject<Ipv4>());
        table->AddHostRouteTo(interfaces.GetAddress(to), interfaces.GetAddress(next), 1);
    }
    std::cin >> word >> count;
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t k = 0; k < count; k++)
    {
        uint32_t from, to;
        double start;
        std::cin >> from >> to >> start;
        const uint16_t port = 5000 + k;
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(to), port));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(segment));
        bulk.Install(nodes.Get(from)).Start(Seconds(start));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        auto apps = sink.Install(nodes.Get(to));
        apps.Start(Seconds(0));
        sinks.push_back(DynamicCast<PacketSink>(apps.Get(0)));
    }
    g_counts.resize(n);
    for (uint32_t i = 0; i < n; i++)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&Sent, i));
        device->GetMac()->TraceConnectWithoutContext("AckedMpdu", MakeBoundCallback(&Acked, i));
    }
    std::vector<uint64_t> before(count, 0);
    Simulator::Schedule(Seconds(warmup), [&]() {
        g_counts.assign(n, Counts());
        for (uint32_t k = 0; k < count; k++)
        {
            before[k] = sinks[k]->GetTotalRx();
        }
    });
    Simulator::Stop(Seconds(warmup + seconds));
    Simulator::Run();
    for (uint32_t k = 0; k < count; k++)
    {
        std::printf("%lu\n", sinks[k]->GetTotalRx() - before[k]);
    }
    for (const Counts& c : g_counts)
    {
        std::printf("%lu %lu\n", c.data, c.acked);
    }
    Simulator::Destroy();
    return 0;
}
