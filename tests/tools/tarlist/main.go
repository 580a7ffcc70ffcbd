// Command tarlist shows a .tar.gz as Go's archive reader sees it: one line per entry, in order, of
// name, mode in octal, size, type flag and SHA-256 of the content, separated by tabs.
//
// It fails on what Go cannot read to the end: a broken header, a wrong checksum of the gzip stream.
package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: tarlist FILE.tar.gz")
		os.Exit(2)
	}
	if err := list(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "tarlist: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func list(path string, out io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	stream, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return err
	}
	archive := tar.NewReader(stream)
	for {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, stream) // the checksum stands behind the last block
			return err
		}
		if err != nil {
			return err
		}
		content := sha256.New()
		if _, err := io.Copy(content, archive); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\t%04o\t%d\t%c\t%x\n", entry.Name, entry.Mode, entry.Size, entry.Typeflag, content.Sum(nil))
	}
}
