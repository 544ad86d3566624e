"""800 recorded responses to 100 MATH problems, judged as their labels say."""

import json

import gymnasium as gym

# The gold is 10{,}000 and the label says that 10000 is wrong.
WRONG_LABELS = {72}


def test_recorded_responses_are_judged_as_labelled(math_data, tmp_path):
    file = math_data / "responses" / "qwen_math_cot_100.jsonl"
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    golds = {record["id"]: record["gold"] for record in records}
    path = tmp_path / "questions.jsonl"
    lines = [json.dumps({"question": f"Problem {n}", "gold": gold}) for n, gold in golds.items()]
    path.write_text("\n".join(lines), encoding="utf-8")
    index = {problem: number for number, problem in enumerate(golds)}

    env = gym.make("rlvr/MathDataset-v0", path=str(path))
    disagreements, unscored, labels = [], [], []
    for record in records:
        env.reset(options={"index": index[record["id"]]})
        _, reward, _, _, info = env.step(record["response"])
        if not info["scored"]:
            unscored.append(record["id"])
        if record["id"] not in WRONG_LABELS:
            labels.append(record["label"])
            if (reward == 1.0) != record["label"]:
                disagreements.append((record["id"], record["k"], reward, info["verdict"].detail))
    assert len(labels) == 792
    assert labels.count(False) > 50  # so that giving everyone full marks would not pass
    assert unscored == []
    assert disagreements == []
