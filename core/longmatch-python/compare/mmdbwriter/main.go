// Writes routes, a prefix and a number in each line, as a MaxMind DB by MaxMind's own package: write ROUTES OUT.
package main

import (
	"bufio"
	"log"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
)

func main() {
	if err := write(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func write(routes, out string) error {
	// Its aliases are refused where the table has prefixes inside of them, such as 2001::/32.
	tree, err := mmdbwriter.New(mmdbwriter.Options{
		DatabaseType: "longmatch-compare", IncludeReservedNetworks: true, DisableIPv4Aliasing: true,
	})
	if err != nil {
		return err
	}
	file, err := os.Open(routes)
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		prefix, asn, _ := strings.Cut(lines.Text(), " ")
		_, network, err := net.ParseCIDR(prefix)
		if err != nil {
			return err
		}
		number, err := strconv.ParseUint(asn, 10, 32)
		if err != nil {
			return err
		}
		if err := tree.Insert(network, mmdbtype.Map{"asn": mmdbtype.Uint32(number)}); err != nil {
			return err
		}
	}
	made, err := os.Create(out)
	if err != nil {
		return err
	}
	if _, err := tree.WriteTo(made); err != nil {
		return err
	}
	return made.Close()
}
