# 2026-01-01 00:00:00 by RouterOS 7.1
/ip address
add address=10.9.9.9/24 interface=ether1
/ip firewall address-list
add address=192.0.2.0/24 comment="two words" list=block
add list=block address=198.51.100.1-198.51.100.2 timeout=1d
add address=example.com list=block
add address=203.0.113.0/24 disabled=yes list=block
add address=203.0.113.9 comment=one \
    list=allow
/ipv6 firewall address-list add address=2001:db8::/32 list=six
