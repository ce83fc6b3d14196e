/**
 * `branch`: on the run's branch. `moved`: a person moved it. `reset`: nothing is on it. `merged`: HEAD here has it. `gone`: it was deleted.
 * `before`: a command to run first, because of what is checked out.
 */
export interface WorkPlace {
  readonly at: 'branch' | 'moved' | 'reset' | 'merged' | 'gone';
  readonly before?: string | undefined;
}
