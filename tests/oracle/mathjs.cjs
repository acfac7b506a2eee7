// Answers with what broadcastSizes of mathjs makes of shapes: a question and an answer on each line.
// The argument is the folder in which mathjs is; it does not export the function.
const { broadcastSizes } = require(`${process.argv[2]}/lib/cjs/utils/array.js`);

let rest = "";
process.stdin.on("data", (read) => {
  const lines = (rest + read).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    let answer = { refused: true };
    try {
      answer = { shape: broadcastSizes(...JSON.parse(line).shapes) };
    } catch {}
    console.log(JSON.stringify(answer));
  }
});
