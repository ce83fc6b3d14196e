import { createObjectivePlaybook } from '../../src/playbooks/objective/index.ts';
import { defaultSettings } from '../../src/squad/settings/parse-settings.ts';
import type { Json } from '../../src/text/json.ts';
import {
  BUSINESS_PROBLEM,
  PLAN,
  RESEARCH,
  SETUP,
  SPEC,
  TEST,
  TEST_STRATEGY,
  type DocumentText,
} from '../../src/playbooks/objective/documents.ts';

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

/** Every document that an agent writes in `objective`, by the task that writes it. */
export const DOCUMENTS: Readonly<Record<string, DocumentText>> = {
  setup: SETUP,
  'business-problem': BUSINESS_PROBLEM,
  spec: SPEC,
  research: RESEARCH,
  'test-strategy': TEST_STRATEGY,
  plan: PLAN,
  test: TEST,
};

/** Where a task writes its document; undefined: it writes none. A later pass writes the same one. */
export function documentPath(run: string, task: string): string | undefined {
  const document = Object.hasOwn(DOCUMENTS, stem(task)) ? DOCUMENTS[stem(task)] : undefined;
  return document && `docs/squad/${run}/${document.path}`;
}

/** A document with all its headings. `note`: in each section, so that a new version differs. */
export function documentText(task: string, note = 'as it is'): string {
  const sections = DOCUMENTS[stem(task)]?.sections ?? [];
  return `# ${stem(task)}\n\n${sections.map(([heading]) => `## ${heading}\n\n${heading} ${note}.\n`).join('\n')}`;
}

function stem(task: string): string {
  return task.replace(/-\d+$/, '');
}
