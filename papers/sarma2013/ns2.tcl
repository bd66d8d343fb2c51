# The declared setting of the TCP runs in ns-2.35, with the same limit and half of each kind in the others, for ns2_declared.csv: ns ns2.tcl CLIENTS DropTail|RED TCP|UDP|TCP-UDP SEED
# The shared link's queue holds 10 packets by ns-2's counting, the others 50; sinks delay acknowledgments; starts within 1.2 ms. Delays are counted
# from the arrival at the router, plus 3 ms; throughput with 1500 byte a packet; what is sent includes what a queue drops.
lassign $argv n queue traffic seed
set ns [new Simulator]
global defaultRNG
$defaultRNG seed $seed
set starts [new RandomVariable/Uniform]
$starts set min_ 0
$starts set max_ 0.0012
Agent/TCP set window_ 120
Agent/TCP set packetSize_ 1500
Agent/UDP set packetSize_ 1500
set router [$ns node]
set server [$ns node]
set awk {
  $1 == "+" && $4 == R { sent++ }
  $1 == "d" { lost++ }
  $1 == "r" && $4 == R { at[$12] = $2 }
  $1 == "r" && $4 == S { delay += $2 - at[$12] + 0.003; got++; delete at[$12] }
  END { printf "%.2f %.4f %.4f\n", got * 12 / 100 / N, 100 * lost / sent, 1000 * delay / got }
}
set file [open "| awk -v N=$n -v R=[$router id] -v S=[$server id] {$awk}" w]
$ns duplex-link $router $server 50Mb 10ms $queue
$ns queue-limit $router $server 10
$ns trace-queue $router $server $file
set tcp [expr {$traffic eq "TCP" ? $n : $traffic eq "UDP" ? 0 : ($n + 1) / 2}]
for {set i 0} {$i < $n} {incr i} {
  set client [$ns node]
  $ns duplex-link $client $router 10Mb 3ms $queue
  $ns queue-limit $client $router 50
  $ns trace-queue $client $router $file
  if {$i < $tcp} {
    set agent [new Agent/TCP/Reno]
    set sink [new Agent/TCPSink/DelAck]
    set source [new Application/FTP]
  } else {
    set agent [new Agent/UDP]
    set sink [new Agent/Null]
    set source [new Application/Traffic/CBR]
    $source set packetSize_ 1500
    $source set rate_ 10Mb
  }
  $ns attach-agent $client $agent
  $ns attach-agent $server $sink
  $ns connect $agent $sink
  $source attach-agent $agent
  $ns at [$starts value] "$source start"
}
proc finish {} {
  global ns file
  $ns flush-trace
  close $file
  exit 0
}
$ns at 100 finish
$ns run
