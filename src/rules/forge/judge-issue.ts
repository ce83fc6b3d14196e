import type { IssueRecord } from '../../model/forge/issue-record.ts';
import type { Who } from '../../model/forge/settings.ts';

interface Judged {
  readonly isOpen: boolean;
  readonly set?: { readonly id: string; readonly at: number };
  readonly editedAt?: number;
}

/** Whether a person with this role is among those whose words count. An owner is a member, too. */
export function mayDecide(role: Who | 'none' | undefined, by: readonly Who[]): boolean {
  return (role === 'owner' && by.length > 0) || (role === 'member' && by.includes('member'));
}

/**
 * Judges an issue with the label. The rights are those of the person who set it, and only the text counts that it had by then: its author can
 * change it at any time. `nothing`: it has no label, or this setting of it was judged before.
 */
export function judgeIssue({
  issue,
  before,
  role,
  by,
}: {
  readonly issue: Judged;
  readonly before: Pick<IssueRecord, 'set' | 'again'> | undefined;
  readonly role: Who | 'none' | undefined;
  readonly by: readonly Who[];
}): 'taken' | 'not-allowed' | 'edited' | 'nothing' {
  const { isOpen, set, editedAt } = issue;
  if (!isOpen || set === undefined || set.id === before?.set.id || set.id === before?.again) return 'nothing';
  if (!mayDecide(role, by)) return 'not-allowed';
  // A forge counts in seconds: within the same one it cannot be known which was first.
  return editedAt !== undefined && editedAt >= set.at ? 'edited' : 'taken';
}
