# A dumbbell of long TCP flows in ns-2: Sack1 agents with RFC 6928's initial window, an acknowledgment for each packet, no traces.
# Arguments: pairs, access rate and delay, bottleneck rate and delay, its buffer in packets, segment in bytes, stagger, duration (s).
lassign $argv pairs access_rate access_delay rate delay limit mss stagger duration

set ns [new Simulator]
Agent/TCP set packetSize_ $mss
Agent/TCP set windowInit_ 10
Agent/TCP set window_ 100000
Agent/TCP set maxcwnd_ 0
Agent/TCP set overhead_ 0

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $rate $delay DropTail
$ns queue-limit $left $right $limit
$ns queue-limit $right $left $limit
for {set i 0} {$i < $pairs} {incr i} {
    set s [$ns node]
    set d [$ns node]
    $ns duplex-link $s $left $access_rate $access_delay DropTail
    $ns queue-limit $s $left 100000
    $ns duplex-link $right $d $access_rate $access_delay DropTail
    $ns queue-limit $right $d 100000
    set tcp($i) [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $s $tcp($i)
    $ns attach-agent $d $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [expr {$i * $stagger}] "$ftp start"
}

# What was retransmitted was lost: those packets crossed the first link alone. Each other one crossed three links, its acknowledgment too.
proc finish {} {
    global tcp pairs
    set sent 0
    set again 0
    for {set i 0} {$i < $pairs} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
        incr again [$tcp($i) set nrexmitpack_]
    }
    puts [expr {6 * ($sent - $again) + $again}]
    exit 0
}
$ns at $duration finish
$ns run
