// A router with two interfaces: its routing table is the element rt.
# 1 "router.click"
require(package "none");	/* no package (at all) */

elementclass Sink { input -> Discard; }

source :: InfiniteSource(DATA "a \"quoted) text", LIMIT 1, STOP true)
	-> Strip(14)
	-> CheckIPHeader(INTERFACES 192.0.2.1/24 198.51.100.1/24)
	-> rt :: LinearIPLookup(
		192.0.2.1 2,				// to this host
		192.0.2.255/32 2,
		192.0.2.0/24 0,				/* an interface, */
		198.51.100.0/255.255.255.0 - 1,		/* and the other one */
		203.0.113/24 192.0.2.9 0, 10/8 198.51.100.9
			1, // a route on two lines
		10.9.0.0/16 192.0.2.9 1,		// another port: another next hop
		0/0 198.51.100.9 1);

rt[0] -> Queue(64) -> s0 :: Sink;
rt[1] -> Queue(64) -> s1 :: Sink;
rt[2] -> Print("for (me") -> Discard;

monitor :: StaticIPLookup(192.0.2.0/24 0, 0/0 1);
Idle -> monitor; monitor[0] -> s2 :: Sink; monitor[1] -> s3 :: Sink;
