/** What a turn that asked waits for, and what a person is asked where a person is MAIN: `mail/<seq>`. */
export function questionOf(mailId: string): string {
  return `mail/${mailId.split('-').at(-1) ?? mailId}`;
}
