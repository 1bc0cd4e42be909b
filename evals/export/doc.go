// Package export turns traces into training sets: each step as the conversation
// that a session would show a model, with the reply of the reference as the last
// word of the assistant. Errors are steps as others are.
//
// # Splits
//
// A set has the splits train, validation and test. Nothing of a test may be
// learned from train, which takes two rules:
//
//   - All traces of a family are in one split. A family is a scenario with its
//     variants: area and name up to the first hyphen, "rename/stranger" of
//     "rename/stranger-types". The hash of seed and family decides the split, so a
//     family stays where it is when the corpus grows.
//   - A step that says the same as one of another split is left out of the larger
//     of the two. Two steps say the same if their last questions and their answers
//     are equal once the numbers that a recording alone decides are masked: the
//     request's own number, process, and all times. Of the history before the
//     question nothing is compared, so that the same question after other small
//     talk is the same, too. Within a split the first such step stays.
//
// # Formats
//
// openai-finetune is the JSONL of OpenAI's supervised fine-tuning, an object with
// messages a line. Replies of earlier turns have weight 0: each is the last one
// of a line of its own. sharegpt is the JSONL of {"conversations":[{"from","value"}]}
// that open trainers read, with an id of trace and pair. It has no weights: the
// trainer must be told to train on the last turn alone, or it learns what was left
// out from the turns before.
//
// Beside them, set.json says what a set was made with and holds: arguments, hashes
// of traces, families and counts of each split, and how many steps were left out.
package export
