// Saturated 802.11 stations in ns-3.37: the other side of docs/validation/wireless.md. Packets of 1028 bytes (1000 behind UDP and IP) go straight into the devices.

#include "ns3/core-module.h"
#include "ns3/dsss-error-rate-model.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

double g_threshold = 10; // as a ratio; 0: ns-3's own error rates
constexpr uint32_t BYTES = 1028;
constexpr int AHEAD = 8; // packets that a saturated source has in its queue

struct Station
{
    Ptr<WifiNetDevice> device;
    int next = -1; // where its packets go
    bool source = false;
};

struct Counts
{
    uint64_t data = 0, rts = 0, cts = 0, ack = 0, acked = 0, dropped = 0;
};

std::vector<Station> g_stations;
std::vector<uint64_t> g_received; // by source
std::map<uint64_t, uint32_t> g_from;
Counts g_counts;

void Forward(uint32_t i, Ptr<Packet> packet)
{
    Station& s = g_stations[i];
    s.device->Send(packet, g_stations[s.next].device->GetAddress(), 0x0800);
}

void Make(uint32_t i)
{
    Ptr<Packet> packet = Create<Packet>(BYTES);
    g_from[packet->GetUid()] = i;
    Forward(i, packet);
}

void Again(uint32_t i)
{
    if (g_stations[i].source)
    {
        Simulator::ScheduleNow(&Make, i);
    }
}

void Acked(uint32_t i, Ptr<const WifiMpdu>)
{
    g_counts.acked++;
    Again(i);
}

void Dropped(uint32_t i, WifiMacDropReason reason, Ptr<const WifiMpdu>)
{
    if (reason != WIFI_MAC_DROP_FAILED_ENQUEUE)
    {
        g_counts.dropped++;
        Again(i);
    }
}

void Sent(Ptr<const Packet> packet, double)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    g_counts.ack += header.IsAck();
    g_counts.rts += header.IsRts();
    g_counts.cts += header.IsCts();
    g_counts.data += header.IsData();
}

bool Received(uint32_t i, Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
{
    if (g_stations[i].next >= 0)
    {
        Forward(i, packet->Copy());
        return true;
    }
    auto from = g_from.find(packet->GetUid());
    if (from != g_from.end())
    {
        g_received[from->second]++;
        g_from.erase(from);
    }
    return true;
}

void Reset()
{
    g_counts = Counts();
    g_received.assign(g_received.size(), 0);
}

} // namespace

// Takes the place of the library's function, which knows no threshold for DSSS: it is not virtual, and its formulas for DSSS are fixed.
double ns3::ErrorRateModel::GetChunkSuccessRate(WifiMode mode,
                                                const WifiTxVector& tx,
                                                double snr,
                                                uint64_t bits,
                                                uint8_t antennas,
                                                WifiPpduField field,
                                                uint16_t station) const
{
    if (g_threshold > 0)
    {
        return snr >= g_threshold ? 1 : 0;
    }
    if (mode.GetModulationClass() != WIFI_MOD_CLASS_DSSS && mode.GetModulationClass() != WIFI_MOD_CLASS_HR_DSSS)
    {
        return DoGetChunkSuccessRate(mode, tx, snr, bits, antennas, field, station);
    }
    switch (mode.GetDataRate(22))
    {
    case 1000000:
        return DsssErrorRateModel::GetDsssDbpskSuccessRate(snr, bits);
    case 2000000:
        return DsssErrorRateModel::GetDsssDqpskSuccessRate(snr, bits);
    case 5500000:
        return DsssErrorRateModel::GetDsssDqpskCck5_5SuccessRate(snr, bits);
    default:
        return DsssErrorRateModel::GetDsssDqpskCck11SuccessRate(snr, bits);
    }
}

int main(int argc, char** argv)
{
    std::string network = "stations", standard = "b", rate = "11", manager = "Constant";
    uint32_t n = 5, run = 1;
    double threshold = 10, loss = 70, weaker = 0, warmup = 0.5, seconds = 10;
    double metres = 200, frequency = 0, power = 31.54, sensitivity = -64.37, cca = -78.07;
    bool rts = false, capture = false, protection = false, shortSlot = false;
    CommandLine line(__FILE__);
    line.AddValue("network", "stations (n senders, one receiver), two (senders), hidden (two of them) or chain (n hops)", network);
    line.AddValue("n", "senders or hops", n);
    line.AddValue("standard", "a, b or g", standard);
    line.AddValue("rate", "of data, in Mbit/s", rate);
    line.AddValue("manager", "Constant, Arf or Minstrel", manager);
    line.AddValue("rts", "RTS before each frame, without limit", rts);
    line.AddValue("protection", "CTS to self (g)", protection);
    line.AddValue("shortSlot", "slots of 9 us (g)", shortSlot);
    line.AddValue("capture", "a stronger signal takes over a receiver", capture);
    line.AddValue("threshold", "of reception in dB; -100: ns-3's error rates", threshold);
    line.AddValue("loss", "between stations at one place, in dB below 20 dBm", loss);
    line.AddValue("weaker", "how much more the first sender loses, in dB", weaker);
    line.AddValue("metres", "between the stations of a chain", metres);
    line.AddValue("frequency", "of a chain in free space, Hz; 0: over ground", frequency);
    line.AddValue("power", "of a chain's transmitters, dBm", power);
    line.AddValue("sensitivity", "of a chain's receivers, dBm", sensitivity);
    line.AddValue("cca", "of a chain's receivers, dBm", cca);
    line.AddValue("warmup", "seconds before the measured ones", warmup);
    line.AddValue("seconds", "measured", seconds);
    line.AddValue("run", "RngRun", run);
    line.Parse(argc, argv);

    const bool chain = network == "chain", b = standard == "b", pair = network == "two" || network == "hidden";
    const uint32_t count = pair ? 3 : n + 1;
    const std::string prefix = b ? "DsssRate" : standard == "a" ? "OfdmRate" : "ErpOfdmRate";
    const std::string data = prefix + rate + "Mbps", lowest = prefix + (b ? "1Mbps" : "6Mbps");
    g_threshold = threshold <= -100 ? 0 : std::pow(10, threshold / 10);
    RngSeedManager::SetRun(run);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100000)));

    NodeContainer nodes;
    nodes.Create(count);
    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < count; i++)
    {
        places->Add(Vector(chain ? metres * i : 0, 0, 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);
    if (chain && frequency > 0)
    {
        auto space = CreateObject<FriisPropagationLossModel>();
        space->SetFrequency(frequency);
        channel->SetPropagationLossModel(space);
    }
    else if (chain)
    {
        auto ground = CreateObject<LogDistancePropagationLossModel>();
        ground->SetPathLossExponent(4);
        ground->SetReference(1, 0);
        channel->SetPropagationLossModel(ground);
    }
    else
    {
        auto matrix = CreateObject<MatrixPropagationLossModel>();
        auto at = [&](uint32_t i) { return nodes.Get(i)->GetObject<MobilityModel>(); };
        matrix->SetDefaultLoss(loss);
        if (network == "hidden")
        {
            matrix->SetLoss(at(1), at(2), 500);
        }
        matrix->SetLoss(at(1), at(0), loss + weaker);
        channel->SetPropagationLossModel(matrix);
    }

    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.SetErrorRateModel("ns3::NistErrorRateModel");
    phy.Set("TxPowerStart", DoubleValue(chain ? power : 20));
    phy.Set("TxPowerEnd", DoubleValue(chain ? power : 20));
    if (chain)
    {
        phy.Set("CcaEdThreshold", DoubleValue(cca));
        phy.Set("CcaSensitivity", DoubleValue(cca));
    }
    const double least = chain ? sensitivity : -12 - loss;
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "Threshold", DoubleValue(4), "MinimumRssi", DoubleValue(least));
    if (capture)
    {
        phy.SetFrameCaptureModel("ns3::SimpleFrameCaptureModel", "Margin", DoubleValue(5));
    }
    WifiHelper wifi;
    wifi.SetStandard(b ? WIFI_STANDARD_80211b : standard == "a" ? WIFI_STANDARD_80211a : WIFI_STANDARD_80211g);
    ObjectFactory factory("ns3::" + manager + (manager == "Constant" ? "RateWifiManager" : "WifiManager"));
    wifi.SetRemoteStationManager(factory.GetTypeId().GetName(),
                                 "ErpProtectionMode",
                                 StringValue("Cts-To-Self"),
                                 "RtsCtsThreshold",
                                 UintegerValue(rts ? 0 : 999999));
    Config::SetDefault("ns3::ConstantRateWifiManager::DataMode", StringValue(data));
    Config::SetDefault("ns3::ConstantRateWifiManager::ControlMode", StringValue(lowest));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
    wifi.AssignStreams(devices, 100);

    g_stations.resize(count);
    g_received.resize(count);
    for (uint32_t i = 0; i < count; i++)
    {
        Station& s = g_stations[i];
        s.device = DynamicCast<WifiNetDevice>(devices.Get(i));
        s.source = chain ? i == 0 : i > 0;
        s.next = chain ? (i < n ? int(i) + 1 : -1) : (i > 0 ? 0 : -1);
        if (shortSlot)
        {
            s.device->GetPhy()->SetSlot(MicroSeconds(9));
        }
        s.device->GetMac()->TraceConnectWithoutContext("AckedMpdu", MakeBoundCallback(&Acked, i));
        s.device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeBoundCallback(&Dropped, i));
        s.device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Sent));
        s.device->SetReceiveCallback(MakeBoundCallback(&Received, i));
    }
    // Peers are made known beforehand, so that only these rates are basic ones; at time 0, as the devices forget them when they start.
    Simulator::Schedule(Seconds(0), [=]() {
        for (uint32_t i = 0; i < count; i++)
        {
            Ptr<WifiRemoteStationManager> peers = g_stations[i].device->GetRemoteStationManager();
            peers->AddBasicMode(WifiMode(lowest));
            for (const char* basic : {"12Mbps", "24Mbps"})
            {
                if (!b)
                {
                    peers->AddBasicMode(WifiMode(prefix + basic));
                }
            }
            peers->SetUseNonErpProtection(protection);
            for (uint32_t j = 0; j < count; j++)
            {
                if (j == i)
                {
                    continue;
                }
                Mac48Address peer = Mac48Address::ConvertFrom(g_stations[j].device->GetAddress());
                for (const WifiMode& mode : g_stations[i].device->GetPhy()->GetModeList())
                {
                    const std::string name = mode.GetUniqueName();
                    const bool ours = name.rfind(prefix, 0) == 0;
                    if (ours && (manager != "Constant" || name == data || name == lowest))
                    {
                        peers->AddSupportedMode(peer, mode);
                    }
                }
                peers->RecordDisassociated(peer);
            }
        }
    });
    auto start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < count; i++)
    {
        const Time at = Seconds(start->GetValue(0, 0.1));
        for (int k = 0; k < AHEAD && g_stations[i].source; k++)
        {
            Simulator::Schedule(at, &Make, i);
        }
    }
    Simulator::Schedule(Seconds(warmup), &Reset);
    Simulator::Stop(Seconds(warmup + seconds));
    Simulator::Run();

    uint64_t all = 0;
    for (uint64_t packets : g_received)
    {
        all += packets;
    }
    std::printf("Mbit/s %.4f", all * 8e-3 / seconds);
    for (uint32_t i = 0; i < count; i++)
    {
        if (pair && g_stations[i].source)
        {
            std::printf(" %.4f", g_received[i] * 8e-3 / seconds);
        }
    }
    std::printf("\ndata %lu rts %lu cts %lu ack %lu acked %lu dropped %lu\n", g_counts.data, g_counts.rts, g_counts.cts, g_counts.ack, g_counts.acked, g_counts.dropped);
    Simulator::Destroy();
    return 0;
}
