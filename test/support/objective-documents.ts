import { createObjectivePlaybook } from '../../src/playbooks/objective/index.ts';
import { defaultSettings } from '../../src/squad/settings/parse-settings.ts';
import type { Json } from '../../src/text/json.ts';
import { DOCUMENT_PATHS, objectiveStages } from '../../src/playbooks/objective/stages.ts';

/** What a run of `objective` that is called `simulated` is frozen with. */
export function objectiveOptions(reviewRounds: number): Json {
  const limits = { ...defaultSettings().limits, reviewRounds };
  const source = {
    run: 'simulated',
    section: undefined,
    limits,
    publish: undefined,
    roles: [],
    objective: { criteria: [] },
  };
  return createObjectivePlaybook().options?.(source) ?? {};
}

interface WrittenDocument {
  readonly path: string;
  readonly headings: readonly string[];
}

/** Every document that an agent writes in `objective`, by the task that writes it. */
export const DOCUMENTS: Readonly<Record<string, WrittenDocument>> = Object.fromEntries(
  objectiveStages('keep', 1).flatMap(({ id, makes }) =>
    id in DOCUMENT_PATHS && 'document' in makes
      ? [[id.toLowerCase().replaceAll('_', '-'), { path: makes.document, headings: makes.headings ?? [] }]]
      : [],
  ),
);

/** Where a task writes its document; undefined: it writes none. A later pass writes the same one. */
export function documentPath(run: string, task: string): string | undefined {
  const document = Object.hasOwn(DOCUMENTS, stem(task)) ? DOCUMENTS[stem(task)] : undefined;
  return document && `docs/squad/${run}/${document.path}`;
}

/** A document with all its headings. `note`: in each section, so that a new version differs. */
export function documentText(task: string, note = 'as it is'): string {
  const headings = DOCUMENTS[stem(task)]?.headings ?? [];
  return `# ${stem(task)}\n\n${headings.map((heading) => `## ${heading}\n\n${heading} ${note}.\n`).join('\n')}`;
}

function stem(task: string): string {
  return task.replace(/-\d+$/, '');
}
