// A dumbbell of long TCP flows in ns-3: NewReno with SACK and RFC 6928's initial window, an acknowledgment for each packet, no traces.
// Arguments: pairs, access rate and delay, bottleneck rate and delay, its buffer in packets, segment in bytes, stagger, duration (s).
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

int main(int argc, char** argv)
{
    if (argc < 10)
    {
        return 2;
    }
    const std::vector<std::string> given(argv + 1, argv + argc);
    const int pairs = std::atoi(given[0].c_str());
    const double stagger = std::atof(given[7].c_str()), duration = std::atof(given[8].c_str());
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(std::atoi(given[6].c_str())));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpNewReno")));

    PointToPointHelper access, shared;
    access.SetDeviceAttribute("DataRate", StringValue(given[1]));
    access.SetChannelAttribute("Delay", StringValue(given[2]));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    shared.SetDeviceAttribute("DataRate", StringValue(given[3]));
    shared.SetChannelAttribute("Delay", StringValue(given[4]));
    shared.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(given[5] + "p"));

    NodeContainer routers(2), left(pairs), right(pairs);
    InternetStackHelper stack;
    stack.InstallAll();
    TrafficControlHelper control;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    NetDeviceContainer devices;
    auto join = [&](PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b) {
        const NetDeviceContainer ends = link.Install(a, b);
        devices.Add(ends);
        const Ipv4InterfaceContainer at = addresses.Assign(ends);
        addresses.NewNetwork();
        control.Uninstall(ends); // the device's queue alone, as in the other simulators
        return at;
    };
    join(shared, routers.Get(0), routers.Get(1));
    for (int i = 0; i < pairs; ++i)
    {
        join(access, left.Get(i), routers.Get(0));
        const Ipv4Address to = join(access, routers.Get(1), right.Get(i)).GetAddress(1);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        sink.Install(right.Get(i));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, 5000));
        bulk.SetAttribute("SendSize", UintegerValue(1 << 16));
        bulk.Install(left.Get(i)).Start(Seconds(i * stagger));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    // A device's queue has counted every packet that was put in: those it did not drop were sent.
    uint64_t hops = 0;
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        hops += DynamicCast<PointToPointNetDevice>(devices.Get(i))->GetQueue()->GetTotalReceivedPackets();
    }
    std::cout << hops << std::endl;
    Simulator::Destroy();
    return 0;
}
