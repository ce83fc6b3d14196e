import { resolve } from 'node:path';
import { choosePlaybook } from '../preflight/playbook-choice.ts';
import { readObjective, type WrittenObjective } from '../preflight/read-input.ts';
import { objectiveWithoutSecrets } from '../preflight/secrets.ts';
import type { Source } from '../preflight/source.ts';
import { defined } from '../../text/defined.ts';
import type { FolderRuns } from './session/session-runs.ts';
import { sessionSource, type NamedSession } from './session/session-source.ts';
import { teamSource, type NamedTeamRun } from './team-source.ts';

/**
 * The objective: a path, absolute or from the squad's `cwd`, or its text, which is Markdown with the sections of an objective or
 * plain words. `from`: where the text comes from, for people. Or the folder of a `session`.
 */
export type ObjectiveSource = WrittenObjective | { readonly session: string };

/** With what squad itself knows besides. */
export type Named = WrittenObjective | NamedSession;

/** With the runs of a team, which squad alone submits. */
export type Submitted = Named | NamedTeamRun;

/** The option of `squad run` that names it. */
export function optionOf({ session }: Exclude<ObjectiveSource, WrittenObjective>): string {
  return `--session=${session}`;
}

/** The source that a person named. */
export function sourceOf(named: Submitted, workingDirectory: string, runs: FolderRuns): Source {
  if (typeof named === 'string' || 'text' in named) return writtenSource(named, workingDirectory);
  return 'session' in named ? sessionSource(named, workingDirectory, runs) : teamSource(named);
}

/** A file by its path, an issue, or words. */
function writtenSource(written: WrittenObjective, workingDirectory: string): Source {
  return {
    read: async () => {
      const given = await readObjective(written, workingDirectory);
      return {
        subject: (request, { own, read, redactor }) => {
          const objective = objectiveWithoutSecrets(given, redactor);
          const { file } = objective;
          return {
            ...{ objective, source: file, playbook: choosePlaybook(own, request, objective, read) },
            names: { objective: objective.frontMatter.name, title: objective.title },
            ...defined({ file: typeof written === 'string' ? file : undefined }),
            redacted: objective === given ? [] : [file],
          };
        },
      };
    },
    // A file by its path, an issue by its URL, another text by its words.
    isOf: ({ source, folder, makesBranch, objective: { text } }) => {
      if (folder !== undefined || makesBranch === false) return false;
      if (typeof written === 'string') return resolve(workingDirectory, source) === resolve(workingDirectory, written);
      return text === written.text || (written.from?.includes('://') === true && source === written.from);
    },
  };
}
