// Kubeflow Trainer's controllers and webhooks as its own main starts them, with the certificate that they are given: that
// main waits for one at a fixed path below /tmp, which all servers of a machine would share.
package main

import (
	"flag"
	"log"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	schedulerplugins "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	controllers "github.com/kubeflow/trainer/v2/pkg/controller"
	runtimes "github.com/kubeflow/trainer/v2/pkg/runtime/core"
	"github.com/kubeflow/trainer/v2/pkg/webhooks"
)

func main() {
	var options webhook.Options
	flag.StringVar(&options.Host, "webhook-host", "127.0.0.1", "address that the webhooks listen on")
	flag.IntVar(&options.Port, "webhook-server-port", 9443, "port that the webhooks listen on")
	flag.StringVar(&options.CertDir, "cert-dir", ".", "folder of tls.crt and tls.key")
	flag.Parse() // --kubeconfig is controller-runtime's own
	ctrl.SetLogger(zap.New())
	if err := run(options); err != nil {
		log.Fatal(err)
	}
}

func run(options webhook.Options) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, trainer.AddToScheme, jobset.AddToScheme, schedulerplugins.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = 1000, 1000
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Client:        client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Metrics:       metrics.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(options),
	})
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	known, err := runtimes.New(ctx, manager.GetClient(), manager.GetFieldIndexer())
	if err != nil {
		return err
	}
	if _, err := controllers.SetupControllers(manager, known, controller.Options{}); err != nil {
		return err
	}
	if _, err := webhooks.Setup(manager, known); err != nil {
		return err
	}
	return manager.Start(ctx)
}
