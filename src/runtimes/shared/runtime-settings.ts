/** What the composition root hands to an adapter's factory. Factories have no side effects. */
export interface RuntimeSettings {
  /** Absolute path of the native binary, or undefined: looked up on `environment.PATH` when first needed. */
  readonly binary?: string;
  /** The host's environment. Nothing of it reaches a child but the allow-listed names. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** More names to let through (`runtimes.<name>.env` of squad.yaml). */
  readonly allowEnvironment: readonly string[];
  /** Where private homes may be made, outside every worktree. */
  readonly stateDirectory: string;
  /** The user's home directory. */
  readonly userHome: string;
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** Effective uid 0. */
  readonly isRoot: boolean;
  /** The runtime's own config keys (`runtimes.codex.config`), passed through as they are. */
  readonly config?: Readonly<Record<string, unknown>>;
}
