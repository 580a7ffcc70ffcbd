// The controller of mpi-operator as its own main starts it, for one server and without the election of a leader: that
// main listens for health checks on port 8080 of every address, whoever else is there.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	mpijobs "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	mpijobscheme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	mpijobinformers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
)

func main() {
	options := options.NewServerOption()
	options.AddFlags(flag.CommandLine)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, options); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, options *options.ServerOption) error {
	config, err := clientcmd.BuildConfigFromFlags(options.MasterURL, options.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = float32(options.QPS), options.Burst
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	jobClient, err := mpijobs.NewForConfig(config)
	if err != nil {
		return err
	}
	// Events are about MPIJobs, so their scheme has to know them.
	if err := mpijobscheme.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	objects := informers.NewSharedInformerFactory(client, 0)
	jobs := mpijobinformers.NewSharedInformerFactory(jobClient, 0)
	reconciler, err := controller.NewMPIJobController(
		ctx, client, jobClient, nil, nil,
		objects.Core().V1().ConfigMaps(),
		objects.Core().V1().Secrets(),
		objects.Core().V1().Services(),
		objects.Batch().V1().Jobs(),
		objects.Core().V1().Pods(),
		objects.Scheduling().V1().PriorityClasses(),
		jobs.Kubeflow().V2beta1().MPIJobs(),
		options,
	)
	if err != nil {
		return err
	}
	objects.Start(ctx.Done())
	jobs.Start(ctx.Done())
	return reconciler.Run(options.Threadiness, ctx.Done())
}
