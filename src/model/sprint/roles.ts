/** The roles of a team that take part in sprints, in the order in which a sprint first needs them. */
export const TEAM_ROLES = [
  ...(['research', 'planner', 'designer', 'architect', 'developer', 'qa', 'version-controller'] as const),
] as const;
