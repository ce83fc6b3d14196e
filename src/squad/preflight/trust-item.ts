/** A command from the objective or the repository that would run on this machine, as squad shows it. */
export interface TrustedCommand {
  readonly from: 'setup' | 'verify' | 'notify' | 'stage' | 'criterion' | 'runtime';
  readonly run: string;
}

/** Something that a person has to consent to before a run, as squad shows it. */
export interface TrustItem {
  /**
   * `agent`: what `squad.yaml` allows an agent beyond its own folder. `tracing`: what leaves this machine. `publish`: what is pushed with
   * the person's login. `models` and `limits`: what costs more. `folder`: a folder that a run writes into. `env`: a variable
   * of the person's that commands get. `copy`: an ignored file that folders get. `reuse`: what a command made, in its place.
   * `schedule`: what `squad serve` starts by the clock. `channel`: where people talk to it, and who may. `action`: a command that people
   * may run by its name. `forge`: issues that become runs, and what is written to them. `repository`: another one
   * that runs work on.
   */
  readonly from:
    | TrustedCommand['from']
    | 'agent'
    | 'tracing'
    | 'publish'
    | 'models'
    | 'limits'
    | 'folder'
    | 'env'
    | 'copy'
    | 'reuse'
    | 'schedule'
    | 'channel'
    | 'action'
    | 'forge'
    | 'repository';
  readonly run: string;
  /** Its place: `objective.md:12`. */
  readonly where: string;
  /** Shown with it. No part of what is agreed to, because it may change. */
  readonly detail?: string;
}
