import { delimiter, join } from 'node:path';
import type { Host } from '../../engine/compose.ts';
import { assertNever } from '../../model/assert-never.ts';
import { needsOf, type Need } from '../../model/command-needs.ts';
import type { Criterion } from '../../model/objective.ts';
import type { Doubtful } from '../../model/plan/baseline.ts';
import { findProgram, isExecutable } from '../../runtimes/shared/find-program.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import { defined } from '../../text/defined.ts';
import { asObject } from '../../text/json.ts';
import { readConfined } from './read-input.ts';

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];

/**
 * The commands of criteria that may not be able to run: of what their words need, something is not here. The engine tries them on the
 * base commit. `file`: where a person can correct them. undefined: there are none.
 */
export async function doubtfulOf(
  criteria: readonly Pick<Criterion, 'command'>[],
  { root, environment, file }: { root: string; environment: Host['environment']; file: string | undefined },
): Promise<Doubtful | undefined> {
  const commands = [...new Set(criteria.flatMap(({ command }) => command ?? []))];
  const known = await Promise.all(
    commands.map(async (command) => {
      const met = await Promise.all(needsOf(command).map((need) => isHere(need, root, environment['PATH'])));
      return met.every(Boolean) ? [] : [command];
    }),
  );
  const doubtful = known.flat();
  return doubtful.length === 0 ? undefined : { commands: doubtful, ...defined({ file }) };
}

async function isHere(need: Need, root: string, path = ''): Promise<boolean> {
  switch (need.type) {
    case 'program':
      return (await findProgram(path, need.name)) !== undefined;
    case 'file': {
      const file = join(root, need.path);
      return need.runs ? isExecutable(file) : exists(file);
    }
    case 'script': {
      const script = scriptsIn((await textIn(root, 'package.json')) ?? '')[need.name];
      if (typeof script !== 'string') return false;
      const programs = needsOf(script).filter(({ type }) => type === 'program');
      const found = programs.map((one) => isHere(one, root, `${path}${delimiter}${join(root, 'node_modules/.bin')}`));
      return (await Promise.all(found)).every(Boolean);
    }
    case 'target': {
      const files = await Promise.all(MAKEFILES.map((name) => textIn(root, name)));
      return files.some((text) => text !== undefined && mayHaveTarget(text, need.name));
    }
    default:
      return assertNever(need);
  }
}

async function textIn(root: string, name: string): Promise<string | undefined> {
  const read = await readConfined(root, name);
  return read.type === 'text' ? read.text : undefined;
}

function scriptsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(asObject(JSON.parse(text))['scripts']);
  } catch {
    // No script can be found in what is no JSON.
    return {};
  }
}

/** A makefile can say its targets in many ways, so any mention counts. */
function mayHaveTarget(text: string, name: string): boolean {
  return /^(?:[^\t#\n]*%[^\n]*:|-?include\b)/m.test(text) || text.includes(name);
}
