/**
 * The `sallyport` command.
 *
 * @module
 */

const [command, ...words] = process.argv.slice(2);
if (command !== 'token' || !(await printKeptToken())) {
  const { runProgram } = await import('./commands/program.ts');
  await runProgram(process.argv.slice(2));
}

async function printKeptToken(): Promise<boolean> {
  const kept = await import('./commands/kept-token.ts');
  return kept.printKeptToken(words);
}
