import { resolve } from 'node:path';
import type { Host } from '../compose.ts';
import type { Criterion } from '../model/objective.ts';
import type { Reload } from '../model/plan/intervention.ts';
import type { RunDefinition } from '../model/run.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import { parseObjective } from '../objective/parse-objective.ts';
import { plainLine } from '../text/plain-text.ts';
import { doubtfulOf } from './doubtful.ts';
import { readText } from './read-input.ts';
import { objectiveWithoutSecrets } from './secrets.ts';

export interface CriteriaRead extends Pick<Reload, 'criteria' | 'doubtful'> {
  readonly file: string;
  /** The commands that are new, as text for people; empty: none is. */
  readonly changed: readonly string[];
  /** What the file says otherwise, and stays as it is in the run. */
  readonly kept: readonly string[];
}

/**
 * Reads the commands of the success criteria again from the objective’s file. A criterion is known by its words, which stay as they are.
 * undefined: the run was not begun with a file, or it is gone.
 */
export async function readCriteria(
  { source, folder, objective }: RunDefinition,
  { root, host, redactor }: { root: string; host: Pick<Host, 'workingDirectory' | 'environment'>; redactor: Redactor },
): Promise<CriteriaRead | undefined> {
  if (folder !== undefined) return undefined;
  const text = (await textAt(host.workingDirectory, source)) ?? (await textAt(root, source));
  if (text === undefined) return undefined;
  const file = plainLine(source, 200);
  const parsed = parseObjective(text, source, false);
  if (!parsed.ok) return { file, changed: [], kept: [`${file}, which cannot be read now,`] };
  const left = [...objectiveWithoutSecrets(parsed.objective, redactor).criteria];
  const criteria = objective.criteria.map((one) => withCommandOf(one, left));
  const changed = criteria.flatMap(({ text: words, command }, index) =>
    command === objective.criteria[index]?.command
      ? []
      : [`criterion “${plainLine(words, 100)}”: ${command === undefined ? 'no command' : `\`${command}\``}`],
  );
  const kept = left.length === 0 ? [] : [`The list of success criteria, which ${file} has changed,`];
  if (changed.length === 0) return { file, changed, kept };
  const doubtful = await doubtfulOf(criteria, { root, environment: host.environment, file: source });
  return { file, changed, kept, criteria, ...(doubtful === undefined ? {} : { doubtful }) };
}

async function textAt(folder: string, source: string): Promise<string | undefined> {
  const read = await readText(resolve(folder, source), source);
  return read.type === 'text' ? read.text : undefined;
}

/** Takes the criterion with the same words out of those that are left. */
function withCommandOf(one: Criterion, left: Criterion[]): Criterion {
  const at = left.findIndex(({ text }) => text === one.text);
  const [found] = at < 0 ? [] : left.splice(at, 1);
  if (found === undefined) return one;
  const { command: _, ...rest } = one;
  return found.command === undefined ? rest : { ...rest, command: found.command };
}
