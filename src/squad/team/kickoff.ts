import type { Attachment } from '../../model/sprint/request.ts';
import type { Kickoff } from '../../model/sprint/sprint.ts';
import { defined } from '../../text/defined.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';

const LONGEST_MILESTONE = 200;

interface Given {
  readonly text: string;
  readonly by: string;
  readonly attachments: readonly Attachment[];
  /** The message that asked for it. */
  readonly key?: string | undefined;
}

/** The kickoff of a sprint that a person starts. The first line is its milestone. */
export function kickoffBy({ composition }: OpenedWorkspace, { text, by, attachments, key }: Given): Kickoff {
  const redactor = composition.redactor([]);
  const [milestone = ''] = text.trim().split('\n');
  return {
    milestone: redactor.text(plainLine(milestone.replace(/^#+\s*/, ''), LONGEST_MILESTONE)),
    text: redactor.text(text.trim()),
    ...{ items: [], attachments: [...attachments], by, trigger: 'person' },
    ...defined({ key }),
  };
}
