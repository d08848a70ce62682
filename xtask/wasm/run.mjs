// Runs the lookups of the WebAssembly module that the argument names; ends with 1 where an answer is wrong.
import { readFileSync } from "node:fs";

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
let wrong = 0;
for (const routes of [0, 1, 20, 3000]) {
    const count = instance.exports.wrong_answers(routes);
    console.log(`${routes} routes of each family: ${count} wrong answers`);
    wrong += count;
}
process.exit(wrong === 0 ? 0 : 1);
