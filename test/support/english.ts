/** Two English words in a row that are no code: in a Chinese text, words that no one translated. */
export function english(text: string): string[] {
  return (
    text
      .replaceAll(/[0-9a-f]{8}-[-0-9a-f]{27,}/g, '')
      .replaceAll(/`[^`]*`|detached HEAD|action clarify|pull request|git merge|git status|git log/g, '')
      .match(/[A-Za-z]{2,} [A-Za-z]{2,}/g) ?? []
  );
}
