//! List of the congestion control algorithms, one line each; all other lists are made from these lines.
//!
//! A line has the name of the type, the name in scenarios, other spellings (those of ns-2, ns-3 and Linux among them), the parameters, and
//! one sentence with the source. The file of the algorithm implements [`Algorithm`](super::Algorithm) for its parameters, with the recovery
//! scheme and the ECN mode it implies.

use super::registry_macro::algorithms;
use crate::cc;

algorithms! {
    // The window of Reno with a recovery scheme each: the one of the same name.
    reno {
        Tahoe "tahoe" ["Tahoe", "Agent/TCP"],
            "Slow start, congestion avoidance and fast retransmit (Jacobson 1988): every loss restarts from one segment.";
        Reno "reno" ["Reno", "Agent/TCP/Reno"],
            "Additive increase, multiplicative decrease with fast recovery (RFC 5681).";
        Newreno "newreno" ["Newreno", "NewReno", "Agent/TCP/Newreno"],
            "Reno with partial acknowledgments in fast recovery (RFC 6582).";
        Sack "sack" ["Sack", "Sack1", "Agent/TCP/Sack1"],
            "Reno with selective acknowledgments (RFC 2018) and the recovery of RFC 6675.";
        Fack "fack" ["Fack", "Agent/TCP/Fack"],
            "Reno with forward acknowledgment: the highest SACKed byte determines the data in flight (Mathis and Mahdavi 1996).";
    }
    others {
        Rfc793 "rfc793" ["RFC793"] => cc::rfc793::Rfc793Params,
            "No congestion control: only the receiver's window and the retransmission timer (RFC 793).";
        Vegas "vegas" ["Vegas", "Agent/TCP/Vegas", "TcpVegas"] => cc::vegas::VegasParams,
            "Keeps a few packets in the queue, estimated from the round-trip time (Brakmo and Peterson 1995).";
        Westwood "westwood" ["Westwood", "westwood+", "TcpWestwood", "TcpWestwoodPlus"] => cc::westwood::WestwoodParams,
            "Sets the window after a loss to the measured bandwidth-delay product (Westwood+, Grieco and Mascolo 2004).";
        Cubic "cubic" ["Cubic", "TcpCubic"] => cc::cubic::CubicParams,
            "The window as a cubic function of the time since the last loss, with HyStart++ (RFC 9438).";
        Bic "bic" ["Bic", "TcpBic"] => cc::bic::BicParams,
            "Binary search for the window of the last loss (Xu, Harfoush and Rhee 2004, constants of Linux).";
        Htcp "htcp" ["Htcp", "TcpHtcp", "h-tcp"] => cc::htcp::HtcpParams,
            "Growth by the time since the last loss, reduction by the queue (H-TCP, draft-leith-tcp-htcp-06).";
        Illinois "illinois" ["Illinois", "TcpIllinois"] => cc::illinois::IllinoisParams,
            "Losses determine when the window is cut, delay determines by how much it changes (Liu, Basar and Srikant 2008).";
        Scalable "scalable" ["Scalable", "TcpScalable"] => cc::scalable::ScalableParams,
            "Growth in proportion to the window (Scalable TCP, Kelly 2003).";
        HighSpeed "highspeed" ["HighSpeed", "TcpHighSpeed", "hstcp"] => cc::highspeed::HighSpeedParams,
            "Growth and reduction that depend on the window (HighSpeed TCP, RFC 3649).";
        Hybla "hybla" ["Hybla", "TcpHybla"] => cc::hybla::HyblaParams,
            "Growth as on a path of 25 ms (Caini and Firrincieli 2004).";
        Veno "veno" ["Veno", "TcpVeno"] => cc::veno::VenoParams,
            "Treats a loss while the queue is short as one of the radio link (Fu and Liew 2003).";
        Yeah "yeah" ["YeAH", "YeAH-TCP", "TcpYeah"] => cc::yeah::YeahParams,
            "Scalable TCP while the queue is short, else Reno, with precautionary decongestion (Baiocchi, Castellani and Vacirca 2007).";
        Ledbat "ledbat" ["LEDBAT", "TcpLedbat"] => cc::ledbat::LedbatParams,
            "A background flow that keeps the queueing delay at a target (RFC 6817).";
        Dctcp "dctcp" ["Dctcp", "DCTCP", "TcpDctcp"] => cc::dctcp::DctcpParams,
            "A window cut in proportion to the share of marked data, for data centres (RFC 8257).";
        Bbr "bbr" ["Bbr", "TcpBbr", "bbr1"] => cc::bbr::BbrParams,
            "Paces the data by a model of bandwidth and round-trip time (BBR version 1, draft-cardwell-iccrg-bbr-congestion-control-00, Linux).";
        Bbr3 "bbr3" ["BBRv3"] => cc::bbr3::Bbr3Params,
            "BBR version 3: losses and marks lower bounds on the model (draft-ietf-ccwg-bbr-06).";
        Prague "prague" ["Prague"] => cc::prague::PragueParams,
            "DCTCP for the Internet: L4S with pacing and little dependence on the round-trip time (draft-briscoe-iccrg-prague-congestion-control-04).";
        External "external" ["External"] => cc::external::ExternalParams,
            "A window and a pacing rate that are set from outside while the connection runs, for learners (Narayan et al. 2018).";
    }
}
