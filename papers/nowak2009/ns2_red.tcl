# Three TCP connections without the video in ns-2.35, for ns2_red.csv: ns ns2_red.tcl MIN MAX WEIGHT MAX_P WAIT(true|false) false LIMIT
# The values there have LIMIT = MAX with wait_ off and MAX + 1 with it on.
set ns [new Simulator]
lassign $argv min max wq maxp wait gentle limit
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set thresh_ $min
Queue/RED set maxthresh_ $max
Queue/RED set q_weight_ $wq
Queue/RED set linterm_ [expr 1.0/$maxp]
Queue/RED set wait_ $wait
Queue/RED set gentle_ $gentle
Queue/RED set setbit_ false
Queue/RED set mean_pktsize_ 1071
Queue/RED set adaptive_ 0
Agent/TCP set window_ 64
Agent/TCP set windowInit_ 1
Agent/TCP set packetSize_ 1031
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 1
Agent/TCP set singledup_ 0
foreach n {s1 r1 r2 s3} {set $n [$ns node]}
$ns duplex-link $s1 $r1 100Mb 2ms DropTail
$ns simplex-link $r1 $r2 1.5Mb 20ms RED
$ns simplex-link $r2 $r1 1.5Mb 20ms DropTail
$ns duplex-link $r2 $s3 100Mb 4ms DropTail
$ns queue-limit $r1 $r2 $limit
$ns queue-limit $s1 $r1 1000
set q [$ns monitor-queue $r1 $r2 [open /dev/null w] 1]
set bi [$q get-pkts-integrator]
for {set i 0} {$i<3} {incr i} {
 set t($i) [new Agent/TCP/Reno]; set k [new Agent/TCPSink]
 $ns attach-agent $s1 $t($i); $ns attach-agent $s3 $k; $ns connect $t($i) $k
 set f [new Application/FTP]; $f attach-agent $t($i); $ns at [expr 0.3*$i+0.1] "$f start"
}
proc finish {} { global bi q argv; puts "$argv mean [format %.1f [expr [$bi set sum_]/200.0]] drops [$q set pdrops_]"; exit 0 }
$ns at 200 finish
$ns run
