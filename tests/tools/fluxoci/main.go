// Program fluxoci pulls an artifact into a folder as Flux does: fluxoci HOST/REPOSITORY:TAG FOLDER.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/fluxcd/pkg/oci"
	"github.com/google/go-containerregistry/pkg/crane"
)

func main() {
	client := oci.NewClient([]crane.Option{crane.Insecure})
	metadata, err := client.Pull(context.Background(), os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(metadata.Digest)
}
