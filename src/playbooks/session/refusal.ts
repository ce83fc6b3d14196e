import { assertNever } from '../../model/assert-never.ts';
import { counted } from '../../text/counted.ts';
import type { JsonRead } from '../../text/json-source.ts';
import type { Problem } from '../../text/problem.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { SessionRefusal } from './folder-read.ts';
import { shown, shownPath, type Finding } from './finding.ts';

const MOST_PROBLEMS = 50;

/** All that is wrong, with places. `sources`: the JSON files, in which the places are looked up. */
export function refuse(
  folder: string,
  sources: ReadonlyMap<string, JsonRead>,
  findings: readonly [Finding, ...Finding[]],
): SessionRefusal {
  const [first] = findings;
  return {
    ok: false,
    first: first.message,
    problems: problemsOf(folder, sources, findings),
    next: nextStep(folder, first),
  };
}

/** The first fifty, and how many more there are. */
export function problemsOf(
  folder: string,
  sources: ReadonlyMap<string, JsonRead>,
  findings: readonly Finding[],
): Problem[] {
  const problems = findings.slice(0, MOST_PROBLEMS).map(({ file, at, message, detail }): Problem => {
    const source = sources.get(file);
    const line = typeof at === 'number' ? at : source?.ok === true ? source.lineOf(at) : 1;
    return { file: pathOf(folder, file), line, message: detail === undefined ? message : `${message}: ${detail}` };
  });
  const more = findings.length - MOST_PROBLEMS;
  const rest: Problem[] =
    more > 0
      ? [{ file: pathOf(folder, ''), line: 1, message: `${counted(more, 'more problem')} of this session` }]
      : [];
  return [...problems, ...rest];
}

/** As the person wrote the folder. */
function pathOf(folder: string, file: string): string {
  const base = shownPath(folder);
  return file === '' ? base : `${base.replace(/\/+$/, '')}/${shown(file)}`;
}

function nextStep(folder: string, { advice, file }: Finding): string {
  const into = `--into ${shellWord(shownPath(folder))}`;
  switch (advice) {
    case 'make':
      return `Name the folder of a session, or make one: \`squad coordinate objective.md ${into}\`.`;
    case 'make-state':
      return `Make it again from the objective: \`squad coordinate objective.md ${into} --resume\`.`;
    case 'resume':
      return `Make what is missing: \`squad coordinate ${into} --resume\`.`;
    case 'look':
      return `Look into ${pathOf(folder, file)}, or make it again: \`squad coordinate objective.md ${into} --resume\`.`;
    case 'correct':
      return `Correct ${pathOf(folder, file)}, then run \`squad session check ${shellWord(shownPath(folder))}\`.`;
    default:
      return assertNever(advice);
  }
}
