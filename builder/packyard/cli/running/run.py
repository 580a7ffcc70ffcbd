"""Deploy a use case and follow its log.

packyard run mnist-fp32-training-k8s/first-run -n ml
    deploy, logs
packyard run PACKAGE@VERSION/USECASE NAME=VALUE... -n ml
    of a certain version, with these values

A package in the working directory is used as it is there, any other is fetched for this command alone: packyard get
keeps one. Where no RUN_NAME is set, the run gets a name that no other has. What it does is shown as it begins.
"""

from packyard.cli import declare, output, packages
from packyard.cli import main as command_line
from packyard.cli.running import clusters, deploy


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    packages.add_arguments(parser)
    clusters.add_arguments(parser)
    parser.switch("--no-doctor", "run whatever packyard doctor would find")
    plain = dict.fromkeys(("dry_run", "force", "atomic", "no_wait"), False)
    parser.set_defaults(**plain, timeout=clusters.duration(deploy.PATIENCE), output="")  # the log alone


def run(arguments: declare.Arguments) -> int:
    """Deploy, and follow the log; the exit code is that of the run."""
    client, rendered, words = clusters.find_for(arguments, "run", is_named=True)
    output.note(f"$ {client.packyard('deploy', *words, *['--no-doctor'] * arguments.no_doctor)}")
    deploy.begin(arguments, client, rendered)
    run, log = rendered.run, ("logs", rendered.run, "--follow")
    output.note(f"$ {client.packyard(*log)}")
    try:
        return command_line.run([*log, "-n", client.namespace, *client.typed])
    except BaseException:  # also Ctrl-C
        again, ending = client.packyard(*log), client.packyard("undeploy", run)
        output.notice(f"run {run} goes on; {again} follows it again, {ending} ends it")
        raise
