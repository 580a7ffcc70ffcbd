// The programs of a Kubernetes control plane in one file, each with its own flags, chosen by the first word. One file
// links once. The word key prints a new private key, such as service accounts' tokens are signed with.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: kubernetes etcd|kube-apiserver|kube-controller-manager|kube-scheduler|key FLAG...")
		os.Exit(2)
	}
	name := os.Args[1]
	os.Args = append([]string{name}, os.Args[2:]...)
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(controllers.NewControllerManagerCommand())
	case "kube-scheduler":
		run(scheduler.NewSchedulerCommand())
	case "key":
		printKey()
	default:
		fmt.Fprintf(os.Stderr, "kubernetes: no program %q\n", name)
		os.Exit(2)
	}
}

func run(command *cobra.Command) { os.Exit(cli.Run(command)) }

func printKey() {
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		log.Fatal(err)
	}
	os.Stdout.Write(key)
}
