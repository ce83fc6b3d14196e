import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PlanReading } from '../../model/plan.ts';
import { errorText } from '../../model/errors.ts';
import type { Json } from '../../text/json.ts';
import { withScratch } from '../../substrate/system/files/scratch.ts';
import { scratchLabel } from '../../substrate/system/process/left-scratch.ts';
import { planFile, readPlanFile, withProblems } from './plan-file.ts';

export interface EditPorts {
  /** squad's own folder: the file lies there. */
  readonly stateDirectory: string;
  /** Opens the file in the person's editor until it is closed; the reason if it could not. */
  edit(path: string): Promise<string | undefined>;
  check(plan: Json): Promise<PlanReading>;
  /** The plan cannot be used for these reasons. Whether the person edits it again. */
  again(problems: readonly string[]): Promise<boolean>;
}

export interface Edited {
  /** undefined: the plan stays as it was. */
  readonly edited: Extract<PlanReading, { ok: true }> | undefined;
  /** Text of the file as the person left it; undefined: they changed nothing. */
  readonly written?: string | undefined;
  /** Why the editor could not be used. */
  readonly why?: string;
}

/** Lets a person edit the plan in their editor until squad can use it, or they leave it as it was. */
export async function editPlan(answer: Json, ports: EditPorts): Promise<Edited> {
  const first = planFile(answer);
  const edit = async (folder: string): Promise<Edited> => {
    const path = join(folder, 'plan.yaml');
    let text = first;
    for (;;) {
      await writeFile(path, text, { mode: 0o600 });
      const why = await ports.edit(path);
      if (why !== undefined) return { edited: undefined, why };
      const left = await readFile(path, 'utf8');
      const read = readPlanFile(left);
      if (read === undefined) return { edited: undefined };
      const written = left === first ? undefined : left;
      const checked: PlanReading = read.ok ? await ports.check(read.plan) : read;
      if (checked.ok) return { edited: checked, written };
      if (!(await ports.again(checked.problems))) return { edited: undefined, written };
      text = withProblems(left, checked.problems);
    }
  };
  try {
    return await withScratch(ports.stateDirectory, edit, scratchLabel());
  } catch (error) {
    return { edited: undefined, why: errorText(error) };
  }
}

/** The command that opens a file, as git reads it: a shell splits what the variable holds. */
export function editorCommand(
  { VISUAL, EDITOR }: Readonly<Record<string, string | undefined>>,
  path: string,
): readonly string[] {
  const editor = [VISUAL, EDITOR].find((one) => one !== undefined && one.trim() !== '') ?? 'vi';
  return ['/bin/sh', '-c', `${editor} "$@"`, editor, path];
}
