// The training-operator's controller and webhook of PyTorchJobs as its own main starts them, with the certificate that they
// are given: that main makes one itself and waits until a Secret of it is mounted, at a fixed path below /tmp.
package main

import (
	"flag"
	"log"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	controllers "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/webhooks"
)

func main() {
	var options webhook.Options
	flag.StringVar(&options.Host, "webhook-host", "127.0.0.1", "address that the webhook listens on")
	flag.IntVar(&options.Port, "webhook-server-port", 9443, "port that the webhook listens on")
	flag.StringVar(&options.CertDir, "cert-dir", ".", "folder of tls.crt and tls.key")
	flag.Parse() // --kubeconfig is controller-runtime's own
	ctrl.SetLogger(zap.New())
	if err := run(options); err != nil {
		log.Fatal(err)
	}
}

func run(options webhook.Options) error {
	// What that main's flags say by default.
	config.Config.PyTorchInitContainerImage = config.PyTorchInitContainerImageDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kubeflow.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	settings := ctrl.GetConfigOrDie()
	settings.QPS, settings.Burst = 1000, 1000
	manager, err := ctrl.NewManager(settings, ctrl.Options{
		Scheme:        scheme,
		Metrics:       metrics.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(options),
	})
	if err != nil {
		return err
	}
	const kind = kubeflow.PyTorchJobKind
	if err := controllers.SupportedSchemeReconciler[kind](manager, common.GenNonGangSchedulerSetupFunc(), 1); err != nil {
		return err
	}
	if err := webhooks.SupportedSchemeWebhook[kind](manager); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
