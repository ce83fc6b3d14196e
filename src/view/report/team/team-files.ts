import { readTeam, type Team } from '../../../model/sprint/team.ts';
import { sprintFolders } from '../../../rules/sprint/sprint-id.ts';
import { backlogFiles } from './backlog-files.ts';
import { currentSprintFile, historyFile, historyIndexFile, historyPath } from './history-files.ts';
import { recordFiles, sprintRecordFiles } from './record-files.ts';
import { currentRoleFiles, relayFiles, roleFiles, sessionFiles, sprintRoleFiles } from './role-files.ts';
import { sprintFiles } from './sprint-files.ts';
import { NO_FACTS, type SprintOf, type TeamFacts } from './team-facts.ts';
import type { TeamFile } from './team-file.ts';

/**
 * The files below the folder of a team, from its records and the facts: those of the team as a whole, and those of the sprints that the facts
 * are about. The last file of a sprint that has ended is its entry in the history.
 */
export function teamFiles(team: Team, facts: TeamFacts): TeamFile[] {
  const { timezone, planning } = facts;
  const folders = sprintFolders(team.sprint.keys());
  const ids = [...team.sprint.keys()];
  const at = (id: string | undefined): SprintOf | undefined =>
    id === undefined ? undefined : { id, folder: folders.get(id) ?? '', facts: facts.sprints.get(id) ?? NO_FACTS };
  const before = (id: string): string | undefined => folders.get(ids[ids.indexOf(id) - 1] ?? '');
  const asked = ids.filter((id) => facts.sprints.has(id)).flatMap((id) => at(id) ?? []);
  const newestId = ids.at(-1);
  // Without facts, the files about its roles would say less than they do.
  const newest = newestId !== undefined && facts.sprints.has(newestId) ? at(newestId) : undefined;
  const isRead = newest !== undefined || newestId === undefined;
  return [
    ...backlogFiles(team, timezone),
    currentSprintFile(team, folders, timezone),
    ...recordFiles(team, facts),
    ...(planning === undefined ? [] : relayFiles(planning, timezone)),
    ...sessionFiles(newest?.facts, planning, timezone),
    ...(isRead ? roleFiles(team, newest, folders, facts) : []),
    ...currentRoleFiles(team, newest, newest === undefined ? undefined : before(newest.id), timezone),
    ...asked.flatMap((sprint) => [
      ...sprintFiles(team, sprint, timezone),
      ...sprintRecordFiles(team, sprint, timezone),
      ...sprintRoleFiles(team, sprint, before(sprint.id), timezone),
    ]),
    historyIndexFile(team, folders, timezone),
    ...asked.flatMap((sprint) => historyFile(team, sprint, timezone)),
  ];
}

/** The last file of each sprint: once it is written, all others of the sprint are. */
export function lastFiles(team: Pick<Team, 'sprint'>): ReadonlyMap<string, string> {
  return new Map([...sprintFolders(team.sprint.keys())].map(([id, folder]) => [id, historyPath(folder)]));
}

/** Files of a team that has done nothing yet, as a folder begins with them. */
export function firstFiles(timezone: string): TeamFile[] {
  return teamFiles(
    readTeam(() => []),
    { timezone, isOver: () => false, sprints: new Map() },
  );
}
