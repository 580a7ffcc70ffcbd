// Program referrers-registry serves an OCI registry that has the referrers API, in memory, on the address that it is given.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	listening, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listening.Addr())
	quiet := log.New(io.Discard, "", 0)
	log.Fatal(http.Serve(listening, registry.New(registry.WithReferrersSupport(true), registry.Logger(quiet))))
}
