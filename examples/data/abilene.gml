# Abilene, the network of Internet2 in 2004, in the form of the Topology Zoo: cities with coordinates, links of 10 Gbit/s (OC-192).
graph [
  label "Abilene"
  node [
    id 0
    label "New York"
    Longitude -74.006
    Latitude 40.714
  ]
  node [
    id 1
    label "Chicago"
    Longitude -87.65
    Latitude 41.85
  ]
  node [
    id 2
    label "Washington DC"
    Longitude -77.036
    Latitude 38.895
  ]
  node [
    id 3
    label "Seattle"
    Longitude -122.332
    Latitude 47.606
  ]
  node [
    id 4
    label "Sunnyvale"
    Longitude -122.036
    Latitude 37.369
  ]
  node [
    id 5
    label "Los Angeles"
    Longitude -118.244
    Latitude 34.052
  ]
  node [
    id 6
    label "Denver"
    Longitude -104.985
    Latitude 39.739
  ]
  node [
    id 7
    label "Kansas City"
    Longitude -94.627
    Latitude 39.114
  ]
  node [
    id 8
    label "Houston"
    Longitude -95.363
    Latitude 29.763
  ]
  node [
    id 9
    label "Atlanta"
    Longitude -84.388
    Latitude 33.749
  ]
  node [
    id 10
    label "Indianapolis"
    Longitude -86.158
    Latitude 39.768
  ]
  edge [
    source 0
    target 1
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 0
    target 2
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 1
    target 10
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 2
    target 9
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 3
    target 4
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 3
    target 6
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 4
    target 5
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 4
    target 6
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 5
    target 8
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 6
    target 7
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 7
    target 8
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 7
    target 10
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 8
    target 9
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 9
    target 10
    LinkLabel "OC-192c"
    LinkSpeedRaw 10000000000.0
  ]
]
