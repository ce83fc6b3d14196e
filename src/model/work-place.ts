/**
 * `branch`: on the run's branch. `moved`: a person moved it. `reset`: nothing is on it. `merged`: HEAD here has it. `gone`: it was deleted.
 * `line`: of a sprint, whose work goes onto the line of the team.
 */
export interface WorkPlace {
  readonly at: 'branch' | 'moved' | 'reset' | 'merged' | 'gone' | 'line';
  /** The line's branch, once it has the work. */
  readonly line?: string | undefined;
  /** A command to run first, because of what is checked out. */
  readonly before?: string | undefined;
}
