/** Kinds of the records of a team, and who writes each. */
export const KINDS = {
  /** Commands of people. */
  request: 'request',
  /** The run that planned it. */
  requestPlan: 'request-plan',
  /** Whatever submits a run of the planner. */
  review: 'planner-review',
  /** Runs, by their planner. */
  item: 'backlog-item',
  /** Runs of sprints, their ends, and requests that reopen. */
  itemState: 'backlog-state',
  /** Whatever opens a sprint. */
  sprint: 'sprint',
  /** The run of a sprint. */
  progress: 'sprint-progress',
  /** Commands of people. */
  stop: 'sprint-stop',
  /** Whatever closes a sprint. */
  end: 'sprint-end',
  /** The sourcer. */
  finding: 'finding',
} as const;
