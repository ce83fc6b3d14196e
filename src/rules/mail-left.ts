interface MailFacts {
  readonly members: readonly { readonly address: string; readonly unread: number }[];
  readonly unanswered: readonly unknown[];
  readonly dead: readonly unknown[];
}

/** The messages that a finished run leaves unread, in one sentence; undefined: none. */
export function mailLeft({ members, unanswered, dead }: MailFacts): string | undefined {
  const unread = members.filter((member) => member.unread > 0);
  const sum = unread.reduce((total, member) => total + member.unread, 0);
  const parts = [
    ...(sum === 0
      ? []
      : [`${count(sum, 'message')} unread (${unread.map((one) => `${one.address} ${one.unread}`).join(', ')})`]),
    ...(unanswered.length === 0 ? [] : [`${count(unanswered.length, 'question')} without an answer`]),
    ...(dead.length === 0 ? [] : [`${count(dead.length, 'message')} that could not be delivered`]),
  ];
  return parts.length === 0 ? undefined : `mail is left: ${parts.join(', ')}`;
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
