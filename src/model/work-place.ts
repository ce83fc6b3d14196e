/**
 * Where the work of a run is: `branch`: on its branch, as delivered; `moved`: a person moved the branch; `reset`: nothing is on it;
 * `merged`: HEAD of this checkout has it; `gone`: the branch was deleted. `before`: the command without which the next one would be
 * refused, because of what is checked out.
 */
export interface WorkPlace {
  readonly at: 'branch' | 'moved' | 'reset' | 'merged' | 'gone';
  readonly before?: string | undefined;
}
