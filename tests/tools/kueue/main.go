// Kueue's controllers, webhooks and scheduler as its own main starts them, for the kinds of jobs below and without queues
// of several clusters or topologies: that main wants a certificate for its metrics at a fixed path below /etc.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	settings "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	queue "sigs.k8s.io/kueue/pkg/cache/queue"
	cache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/deployment"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/job"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/jobset"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/kubeflow/jobs/pytorchjob"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/leaderworkerset"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/mpijob"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs/trainjob"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/webhooks"
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
	off := map[string]bool{"MultiKueue": false, "TopologyAwareScheduling": false}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(off); err != nil {
		return err
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = 1000, 1000
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Metrics:       metrics.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(options),
	})
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	if err := setUp(ctx, manager); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, kueue.AddToScheme, kueuev1beta1.AddToScheme, settings.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, jobframework.ForEachIntegration(func(_ string, kind jobframework.IntegrationCallbacks) error {
		if kind.AddToScheme == nil {
			return nil
		}
		return kind.AddToScheme(scheme)
	})
}

func setUp(ctx context.Context, manager ctrl.Manager) error {
	var defaults settings.Configuration
	manager.GetScheme().Default(&defaults)
	if err := indexer.Setup(ctx, manager.GetFieldIndexer()); err != nil {
		return err
	}
	cached := cache.New(manager.GetClient())
	queues := queue.NewManager(manager.GetClient(), cached)
	go queues.CleanUpOnContext(ctx)
	go cached.CleanUpOnContext(ctx)
	if failed, err := core.SetupControllers(manager, queues, cached, &defaults); err != nil {
		return fmt.Errorf("%s: %w", failed, err)
	}
	jobs := []jobframework.Option{
		jobframework.WithEnabledFrameworks(jobframework.GetIntegrationsList()),
		jobframework.WithManagerName(constants.KueueName),
		jobframework.WithCache(cached),
		jobframework.WithQueues(queues),
	}
	if err := jobframework.SetupIndexes(ctx, manager.GetFieldIndexer(), jobs...); err != nil {
		return err
	}
	if err := jobframework.SetupControllers(ctx, manager, ctrl.Log, jobs...); err != nil {
		return err
	}
	if failed, err := webhooks.Setup(manager); err != nil {
		return fmt.Errorf("%s: %w", failed, err)
	}
	recorder := manager.GetEventRecorderFor(constants.AdmissionName)
	return manager.Add(scheduler.New(queues, cached, manager.GetClient(), recorder))
}
