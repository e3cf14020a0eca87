"""Facts about the package, against exact answers where there are some."""

import ctypes
import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
import unittest
import warnings
from pathlib import Path

import numpy as np

import tempera

Y = np.array([1.5, 0.5, 2.0, 1.0])
PRIOR_SD = 2.0
SHORT = dict(seed=3, iterations=400, warmup=300, progress=False)

STAN = """
data { int n; vector[n] y; }
parameters { real mu; }
transformed parameters { matrix[2, 3] both = [[mu, 2, 3], [4, 5, mu]]; }
model { mu ~ normal(0, 2); y ~ normal(mu, 1); }
generated quantities { real twice = 2 * mu; }
"""


def normal(x, mean, sd):
    return (-0.5 * ((x - mean) / sd) ** 2 - np.log(sd)
            - 0.5 * math.log(2 * math.pi))


def exact_log_z():
    v = np.eye(len(Y)) + PRIOR_SD ** 2
    return (-0.5 * Y @ np.linalg.solve(v, Y)
            - 0.5 * np.linalg.slogdet(2 * math.pi * v)[1])


def likelihood(p):
    return normal(Y, p["mu"], 1.0).sum()


def prior(p):
    return normal(p["mu"], 0.0, PRIOR_SD)


def sample(**more):
    arguments = dict(parameters={"mu": "real"}, log_likelihood=likelihood,
                     log_prior=prior, prior_normalised=True, data={"y": Y},
                     **SHORT)
    arguments.update(more)
    return tempera.sample(**arguments)


class Functions(unittest.TestCase):
    def test_evidence_is_exact(self):
        run = sample()
        self.assertLess(abs(run.log_z - exact_log_z()), 4 * run.se)
        self.assertEqual(run["mu"].shape, (4, 400))
        self.assertIn("rb", run.evidence["estimators"])
        self.assertIsInstance(run.verdict, str)

    def test_same_seed_same_draws(self):
        a, b = sample(), sample()
        self.assertTrue((a["mu"] == b["mu"]).all())
        self.assertEqual(a.log_z, b.log_z)

    def test_gradients_and_prior_draws(self):
        run = sample(
            log_likelihood_gradient=lambda p: (
                likelihood(p), {"mu": (Y - p["mu"]).sum()}),
            log_prior_gradient=lambda p: (
                prior(p), {"mu": -p["mu"] / PRIOR_SD ** 2}),
            prior_draw=lambda rng: {"mu": rng.normal(0, PRIOR_SD)})
        self.assertLess(abs(run.log_z - exact_log_z()), 4 * run.se)
        self.assertGreater(run.json["cost"]["gradient_evaluations"], 0)

    def test_vectorised_draws_are_the_same(self):
        sizes = []

        def many(p):
            sizes.append(len(p["mu"]))
            return np.array([likelihood({"mu": mu}) for mu in p["mu"]])

        def many_prior(p):
            return np.array([prior({"mu": mu}) for mu in p["mu"]])
        one = sample(chains=8)
        run = sample(log_likelihood=many, log_prior=many_prior,
                     vectorised=True, chains=8)
        self.assertTrue((one["mu"] == run["mu"]).all())
        self.assertEqual(one.log_z, run.log_z)
        self.assertIn(8, sizes)  # chains; the bridge has more at once

    def test_vectorised_functions_stay_on_the_callers_thread(self):
        here, strangers = threading.get_ident(), []

        def many(p):
            strangers.append(threading.get_ident() != here)
            return normal(Y[:, None], p["mu"], 1.0).sum(axis=0)
        sample(log_likelihood=many, vectorised=True,
               log_prior=lambda p: normal(p["mu"], 0, 2.0))
        self.assertTrue(strangers)
        self.assertFalse(any(strangers))

    def test_vectorised_gradients(self):
        run = sample(
            vectorised=True,
            log_likelihood=lambda p: normal(Y[:, None], p["mu"], 1).sum(0),
            log_prior=lambda p: normal(p["mu"], 0, 2.0),
            log_likelihood_gradient=lambda p: (
                normal(Y[:, None], p["mu"], 1).sum(0),
                {"mu": (Y[:, None] - p["mu"]).sum(0)}),
            log_prior_gradient=lambda p: (normal(p["mu"], 0, 2.0),
                                          {"mu": -p["mu"] / 4}))
        self.assertLess(abs(run.log_z - exact_log_z()), 4 * run.se)

    def test_every_kind_of_parameter(self):
        seen = {}

        def density(p):
            seen.update(p)
            return normal(p["x"], p["k"], p["s"]) + math.log(p["p"][0]) - \
                0.5 * float(p["b"] @ p["b"])
        run = tempera.sample(
            parameters={"x": "real", "s": ("real", 0.5, 3), "k": ("int", 0, 3),
                        "p": ("simplex", 3), "b": ("real", None, None, 5),
                        "m": ("real", 0, 1, (2, 3))},
            log_likelihood=lambda p: 0.0,
            log_prior=density, seed=1, iterations=300, warmup=300,
            progress=False)
        self.assertIsInstance(seen["k"], int)
        self.assertEqual(seen["m"].shape, (2, 3))
        self.assertEqual(run["b"].shape, (4, 300, 5))
        self.assertEqual(run["m"].shape, (4, 300, 2, 3))
        self.assertTrue(np.allclose(run["p"].sum(axis=-1), 1))
        self.assertTrue(((run["s"] > 0.5) & (run["s"] < 3)).all())
        self.assertTrue((run["k"] == np.round(run["k"])).all())

    def test_exceptions_come_with_their_traceback(self):
        calls = []

        def breaks(p):
            calls.append(1)
            if len(calls) > 3000:
                raise ZeroDivisionError("the reactor is empty")
            return likelihood(p)
        for vectorised in (False, True):
            calls.clear()
            function = breaks if not vectorised else \
                lambda p: [breaks({"mu": mu}) for mu in p["mu"]]
            try:
                sample(log_likelihood=function, vectorised=vectorised,
                       log_prior=lambda p: normal(p["mu"], 0, 2.0))
                self.fail("nothing was raised")
            except ZeroDivisionError as failure:
                frames = traceback.extract_tb(failure.__traceback__)
                self.assertTrue(hasattr(failure, "run"))
            self.assertIn("breaks", [frame.name for frame in frames])

    def test_what_is_no_number_is_named(self):
        with self.assertRaisesRegex(TypeError, "log_likelihood must return a "
                                               "number, not 'much'"):
            sample(log_likelihood=lambda p: "much")
        with self.assertRaisesRegex(tempera.ModelError, "NaN"):
            sample(log_likelihood=lambda p: math.nan)
        with self.assertRaisesRegex(ValueError, "as many numbers"):
            sample(vectorised=True, log_likelihood=lambda p: [1.0, 2, 3, 4, 5],
                   log_prior=lambda p: normal(p["mu"], 0, 2.0))

    def test_ctrl_c_returns_what_was_drawn(self):
        for vectorised in (False, True):
            self.interrupted(vectorised)

    def interrupted(self, vectorised):
        state = {"sampling": 0, "sent": False}

        def hear(now):
            state["sampling"] += now["phase"] == "sampling"

        def slow(p):
            if state["sampling"] > 1 and not state["sent"]:
                state["sent"] = True
                os.kill(os.getpid(), signal.SIGINT)
            return normal(np.expand_dims(Y, -1), p["mu"], 1.0).sum(0) \
                if vectorised else likelihood(p)
        run = sample(log_likelihood=slow, iterations=10 ** 7, warmup=100,
                     vectorised=vectorised, progress=hear, bridge=False,
                     reference=False,
                     log_prior=lambda p: normal(p["mu"], 0, 2.0))
        self.assertTrue(state["sent"])
        self.assertFalse(run.complete)
        self.assertGreater(run["mu"].size, 0)

    def test_ctrl_c_before_the_first_draw(self):
        def at_once(p):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            sample(log_likelihood=at_once)

    def test_functions_that_do_not_fit(self):
        with self.assertRaises(tempera.InputError):
            tempera.sample(parameters={"x": "real"})
        with self.assertRaisesRegex(tempera.InputError, "parameter x"):
            sample(parameters={"x": ("complex",)})
        with self.assertRaisesRegex(tempera.InputError, "both densities"):
            sample(log_prior_gradient=lambda p: (0, {}))
        with self.assertRaisesRegex(KeyError, "no value for mu"):
            sample(prior_draw=lambda rng: {})


class Programs(unittest.TestCase):
    def test_data_of_many_kinds(self):
        found = {tempera.sample(STAN, data={"n": 4, "y": y}, **SHORT).log_z
                 for y in (Y, list(Y), tuple(Y), Y.reshape(4))}
        try:
            import pandas
            frame = pandas.DataFrame({"y": Y})
            found.add(tempera.sample(STAN, data={"n": len(frame),
                                                 "y": frame["y"]},
                                     **SHORT).log_z)
        except ImportError:
            pass
        self.assertEqual(len(found), 1)
        self.assertLess(abs(found.pop() - exact_log_z()), 0.1)

    def test_data_that_are_no_numbers_are_named(self):
        wrong = {"text": "abc", "None": None, "times": np.array(
            ["2020-01-01", "2020-01-02"], dtype="datetime64[D]")}
        try:
            import pandas
            wrong["missing"] = pandas.Series([1.0, None])
            wrong["more missing"] = pandas.array([1, None], dtype="Int64")
            wrong["categories"] = pandas.Series(["a", "b"], dtype="category")
        except ImportError:
            pass
        for kind, y in wrong.items():
            with self.subTest(kind=kind), \
                    self.assertRaisesRegex((TypeError, ValueError), "^y: "):
                tempera.sample(STAN, data={"n": 2, "y": y}, **SHORT)

    def test_draws_have_shapes(self):
        run = tempera.sample(STAN, data={"n": 4, "y": Y}, **SHORT)
        self.assertEqual(list(run), ["mu", "both", "twice"])
        self.assertEqual(run["both"].shape, (4, 400, 2, 3))
        self.assertTrue((run["both"][..., 0, 0] == run["mu"]).all())
        self.assertTrue((run["both"][..., 1, 2] == run["mu"]).all())
        self.assertTrue((run["both"][..., 0, 1] == 2).all())
        self.assertTrue((run["twice"] == 2 * run["mu"]).all())
        self.assertEqual(run.tempered.tau.shape, run.tempered["mu"].shape)
        self.assertTrue((run.target.tau == 1).all())
        self.assertTrue(np.allclose(
            run.target.log_prior, normal(run["mu"], 0, 2)))
        self.assertIn("mu", str(run.summary()))
        self.assertAlmostEqual(run.summary()["mu"]["mean"],
                               run["mu"].mean(), 10)
        with self.assertRaises(KeyError):
            run["nu"]

    def test_folder_pickle_and_load(self):
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home) / "deep" / "run"
            run = tempera.sample(STAN, data={"n": 4, "y": Y}, output=folder,
                                 **SHORT)
            again = tempera.load(folder)
            self.assertEqual(run.log_z, again.log_z)
            self.assertEqual(run.config["seed"], 3)
            with self.assertRaisesRegex(tempera.InputError, "holds a run"):
                tempera.sample(STAN, data={"n": 4, "y": Y}, output=folder,
                               **SHORT)
            self.assertIn("<html", run.report(show=False).path.read_text())
            self.assertIn("iframe", run.report()._repr_html_())
            carried = pickle.dumps(run)
            mu = run["mu"]
        copy = pickle.loads(carried)
        self.assertTrue((copy["mu"] == mu).all())
        self.assertTrue(copy.folder.exists())
        self.assertTrue(copy.report(show=False).path.exists())
        place = copy.folder
        del copy
        self.assertFalse(place.exists())
        with self.assertRaises(FileNotFoundError):
            tempera.load("nowhere")

    def test_errors_have_a_place(self):
        with self.assertRaisesRegex(tempera.InputError,
                                    r"model.stan:2:20: "):
            tempera.sample("parameters { real x; }\nmodel { x ~ normal(y, 1); }",
                           **SHORT)
        with self.assertRaisesRegex(tempera.InputError, "lack"):
            tempera.sample(STAN, data={"n": 4}, **SHORT)
        with self.assertRaisesRegex(tempera.InputError, "chains"):
            tempera.sample(STAN, data={"n": 4, "y": Y}, chains=-1)
        with self.assertRaisesRegex(tempera.InputError, "colour"):
            tempera.sample(STAN, data={"n": 4, "y": Y}, colour="red")
        with self.assertRaises(TypeError):
            tempera.sample(STAN, data={"n": 4, "y": "four"})
        with self.assertRaises(FileNotFoundError):
            tempera.sample("nowhere.stan")
        with self.assertRaisesRegex(tempera.InputError, "start of mu"):
            tempera.sample(STAN, data={"n": 4, "y": Y}, init={"nu": 1})

    def test_starts(self):
        for init in ({"mu": 1.0}, [{"mu": 1.0}] * 4):
            run = tempera.sample(STAN, data={"n": 4, "y": Y}, init=init,
                                 **SHORT)
            self.assertTrue(np.isfinite(run.log_z))

    def test_ctrl_c(self):
        sent = []

        def hear(now):
            if now["phase"] == "sampling" and not sent:
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
        run = tempera.sample(STAN, data={"n": 4, "y": Y}, seed=1,
                             iterations=10 ** 8, warmup=200, progress=hear)
        self.assertTrue(sent)
        self.assertFalse(run.complete)
        self.assertLess(time.monotonic() - sent[0], 60)
        self.assertGreater(run["mu"].shape[1], 0)

    def test_resumed_is_as_if_never_ended(self):
        data = {"n": len(Y), "y": Y}
        with tempfile.TemporaryDirectory() as place:
            short = tempera.sample(STAN, data=data, output=f"{place}/a",
                                   **dict(SHORT, iterations=200))
            self.assertEqual(short["mu"].shape[1], 200)
            longer = tempera.resume(f"{place}/a", iterations=400, threads=1,
                                    progress=False)
            whole = tempera.sample(STAN, data=data, output=f"{place}/b",
                                   **SHORT)
            np.testing.assert_array_equal(longer["mu"], whole["mu"])
            self.assertEqual(longer.log_z, whole.log_z)
            with self.assertRaisesRegex(tempera.InputError, "data"):
                tempera.resume(whole, data={"n": len(Y), "y": Y + 1},
                               iterations=500, progress=False)
            with self.assertRaisesRegex(tempera.InputError, "holds no run"):
                tempera.resume(f"{place}/c")
        gone = sample()
        with self.assertRaisesRegex(tempera.InputError, "functions"):
            tempera.resume(gone)

    def test_progress(self):
        seen = []
        tempera.sample(STAN, data={"n": 4, "y": Y}, seed=1, iterations=20000,
                       progress=seen.append)
        self.assertTrue(seen)
        self.assertIn(seen[-1]["phase"], ("warming up", "sampling",
                                          "looking around", "done"))

        def breaks(now):
            raise RuntimeError("no more")
        with self.assertRaisesRegex(RuntimeError, "no more"):
            tempera.sample(STAN, data={"n": 4, "y": Y}, seed=1,
                           iterations=10 ** 7, progress=breaks)

    def test_progress_in_a_notebook(self):
        shown = []

        class Place:
            def update(self, what):
                shown.append(what)
        fake = types.ModuleType("IPython")
        shell = type("ZMQInteractiveShell", (), {})()
        fake.get_ipython = lambda: shell
        display = types.ModuleType("IPython.display")
        display.HTML = lambda text: text
        display.display = lambda what, display_id: Place()
        sys.modules["IPython"], sys.modules["IPython.display"] = fake, display
        try:
            tempera.sample(STAN, data={"n": 4, "y": Y}, seed=1,
                           iterations=20000)
        finally:
            del sys.modules["IPython"], sys.modules["IPython.display"]
        self.assertIn("<progress", shown[0])
        self.assertEqual(shown[-1], "")

    def test_what_a_program_prints_reaches_python(self):
        code = ("import tempera\n"
                "tempera.sample('parameters { real x; } model { x ~ "
                "std_normal(); print(\"seen\"); }', iterations=2, warmup=2)")
        done = subprocess.run([sys.executable, "-c", code], text=True,
                              capture_output=True)
        self.assertIn("seen", done.stderr)

    def test_warnings_are_pythons(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tempera.sample(STAN, data={"n": 4, "y": Y}, tau_scale=0.3, **SHORT)
        self.assertTrue(any("tau-scale" in str(w.message) for w in caught))


class Elsewhere(unittest.TestCase):
    def run_(self, **more):
        return tempera.sample(STAN, data={"n": 4, "y": Y}, **SHORT, **more)

    def test_every_option_of_the_command(self):
        """Those that its help lists: the library takes them by name, or sample
        has them as arguments."""
        import inspect
        import re
        from tempera._sample import set_options
        command = os.environ.get("TEMPERA_COMMAND")
        if not command:
            self.skipTest("TEMPERA_COMMAND does not say where the command is")
        text = subprocess.run([command, "sample", "--help"], text=True,
                              capture_output=True, check=True).stdout
        names = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", text, re.M))
        self.assertGreater(len(names), 40)
        own = set(inspect.signature(tempera.sample).parameters)
        for name in names - {"help", "json", "verbose"}:
            if name.replace("-", "_") in own:
                continue
            with self.subTest(option=name), \
                    self.assertRaisesRegex(tempera.InputError, "no such value") \
                    as caught:
                set_options({name.replace("-", "_"): "no such value"})
            self.assertNotIn("no option", str(caught.exception))

    def test_compare(self):
        a, b = self.run_(), sample()
        found = tempera.compare(a, b)
        self.assertEqual(tempera.compare({"x": a, "y": b}).probabilities,
                         tempera.compare(x=a, y=b).probabilities)
        self.assertEqual(found.names, ["model1", "model2"])
        self.assertAlmostEqual(found.log_bayes_factor(), a.log_z - b.log_z, 12)
        self.assertAlmostEqual(sum(found.probabilities.values()), 1)
        odds = tempera.compare(stan=a, python=b,
                               prior_odds={"stan": 3, "python": 1})
        self.assertGreater(odds.probabilities["stan"],
                           found.probabilities["model1"])
        self.assertIn("stan", str(odds))
        with self.assertRaises(tempera.Error):
            tempera.compare(a, sample(data={"y": Y + 1}))

    def test_compare_by_other_kinds(self):
        a = self.run_()
        b = sample(data={"n": 4, "y": Y}, observations=4)
        with tempfile.TemporaryDirectory() as home:
            page = Path(home) / "page.html"
            found = tempera.compare(a, b, by="fractional", fraction=0.25,
                                    html=page)
            self.assertIn("<html", page.read_text())
        # log z(1) - log z(b) of the conjugate model, exactly
        def log_z(tau):
            v = 1 / PRIOR_SD ** 2 + tau * len(Y)
            return (-tau * len(Y) / 2 * math.log(2 * math.pi)
                    - math.log(PRIOR_SD) - 0.5 * math.log(v)
                    - tau * (Y @ Y) / 2 + (tau * Y.sum()) ** 2 / (2 * v))
        exact = log_z(1) - log_z(0.25)
        self.assertEqual(found.kind, "fractional")
        for model in found.json["models"]:
            self.assertLess(abs(model["log_z"] - exact), 4 * model["se"])
        wbic = tempera.compare(a, b, by="wbic")
        self.assertAlmostEqual(wbic.json["models"][0]["log_z"],
                               -a.json["wbic"]["value"])
        with self.assertRaisesRegex(tempera.InputError, "proper"):
            tempera.compare(a, b, by="fractional")
        with self.assertRaisesRegex(ValueError, "choose one of"):
            tempera.compare(a, b, by="magic")

    def test_draws_at_chosen_tau(self):
        run = self.run_(at_tau=[0.5, np.float64(0.25)])
        v = 1 / (1 / PRIOR_SD ** 2 + 0.5 * len(Y))
        mu = run.at_tau(0.5)["mu"]
        self.assertEqual(mu.shape[0], 4)
        self.assertLess(abs(mu.mean() - v * 0.5 * Y.sum()), 0.1)
        self.assertIn("mu", run.at_tau(0.25))
        with self.assertRaises(KeyError):
            run.at_tau(0.7)

    def test_hypotheses(self):
        """Savage-Dickey and odds of the conjugate model, exactly."""
        v = 1 / (1 / PRIOR_SD ** 2 + len(Y))
        m = v * Y.sum()
        point = normal(0, m, math.sqrt(v)) - normal(0, 0, PRIOR_SD)
        below = 0.5 * math.erfc((m - 0.5) / math.sqrt(2 * v))
        prior_below = 0.5 * math.erfc(-0.5 / PRIOR_SD / math.sqrt(2))
        odds = (math.log(below / (1 - below))
                - math.log(prior_below / (1 - prior_below)))
        def draw(rng):
            return {"mu": rng.normal(0, PRIOR_SD)}
        for run in (self.run_(), sample(prior_draw=draw)):
            a, b = run.test(["mu = 0", "mu < 0.5"])
            self.assertEqual((a.kind, b.kind), ("savage-dickey", "odds"))
            self.assertLess(abs(a.log_bf - point), 4 * a.se)
            self.assertLess(abs(b.log_bf - odds), 4 * b.se)
            self.assertIn("log BF", str(a))
            with self.assertRaisesRegex(tempera.InputError, "nu"):
                run.test("nu = 0")
        again = pickle.loads(pickle.dumps(run))
        with self.assertRaisesRegex(tempera.InputError, "functions"):
            tempera.test(again, "mu = 0")

    def test_evidence_of_a_fit_made_elsewhere(self):
        run = self.run_()
        data = {"n": 4, "y": Y}
        found = tempera.evidence(STAN, data,
                                 draws=str(run.folder / "target-*.csv"))
        self.assertLess(abs(found.log_z - exact_log_z()), 4 * found.se + 1e-4)
        self.assertIn("made elsewhere", str(found))
        self.assertLess(found.pareto_k, 0.7)
        searched = tempera.evidence(
            STAN, data, search=True,
            draws=sorted(run.folder.glob("target-*.csv")))
        self.assertEqual(searched.log_z, found.log_z)
        self.assertIn("Nothing beyond", str(searched))
        self.assertIsInstance(searched.search, tempera.Run)
        with self.assertRaisesRegex(tempera.Error, "nowhere"):
            tempera.evidence(STAN, data, draws="nowhere.csv")

    def test_calibration(self):
        program = ("data { int N; vector[N] y; } parameters { real mu; }\n"
                   "model { mu ~ normal(0, 1); y ~ normal(mu, 1); }")
        data = {"N": 4, "y": np.zeros(4)}
        short = dict(seed=1, iterations=200, chains=2, progress=False)
        with tempfile.TemporaryDirectory() as home:
            place = Path(home) / "made"
            some = tempera.calibrate(program, data, runs=4, output=place,
                                     **short)
            seen = []
            all_ = tempera.calibrate(program, data, runs=20, output=place,
                                     **{**short, "progress": seen.append})
            self.assertEqual(all_.ranks["mu"][:4], some.ranks["mu"])
            self.assertEqual(seen[-1], {"done": 20, "total": 20})
            self.assertTrue(all_.calibrated, str(all_))
            self.assertGreater(all_.p["mu"], 0.001)
            self.assertIn("iframe", all_.report()._repr_html_())
            with self.assertRaisesRegex(tempera.InputError, "another folder"):
                tempera.calibrate(program, data, runs=20, output=place,
                                  **{**short, "chains": 3})

            def stop(now):
                raise KeyboardInterrupt
            with self.assertRaises(KeyboardInterrupt):
                tempera.calibrate(program, data, runs=40, output=place,
                                  **{**short, "progress": stop})
        wrong = tempera.calibrate(program.replace("(0, 1)", "(3, 1)"), data,
                                  simulate=program, runs=20, **short)
        self.assertFalse(wrong.calibrated)
        with self.assertRaisesRegex(tempera.InputError, "2 to"):
            tempera.calibrate(program, data, runs=1, **short)

    def test_any_program_as_a_model(self):
        worker = ("import math, sys\n"
                  "y = [1.5, 0.5, 2.0, 1.0]\n"
                  "for line in sys.stdin:\n"
                  "    mu = float(line)\n"
                  "    print(repr(sum(-0.5 * (v - mu) ** 2 for v in y)"
                  " - 2 * math.log(2 * math.pi)),\n"
                  "          repr(-mu * mu / 8 - 0.5 * math.log(8 * math.pi)),"
                  " flush=True)\n")
        with tempfile.TemporaryDirectory() as home:
            path = Path(home) / "worker.py"
            path.write_text(worker)
            run = tempera.sample(command=f"{sys.executable} {path}",
                                 parameters={"mu": "real"}, workers=2,
                                 prior_normalised=True, eval_timeout=20,
                                 **SHORT)
            self.assertLess(abs(run.log_z - exact_log_z()), 4 * run.se)
            self.assertIn("worker.py", run.config["command"])
            kept = dict(command=f"{sys.executable} {path}", workers=1,
                        parameters={"mu": ["real", None, None]}, seed=1,
                        warmup=60, prior_normalised=True, progress=False)
            whole = tempera.sample(iterations=100, **kept)
            tempera.sample(iterations=40, output=home + "/part", **kept)
            longer = tempera.resume(home + "/part", iterations=100, workers=2,
                                    eval_timeout=20, quiet=True)
            self.assertTrue((longer["mu"] == whole["mu"]).all())
            self.assertEqual(longer.log_z, whole.log_z)
            path.write_text("import sys; sys.exit('the tank is empty')")
            with self.assertRaisesRegex(tempera.Error, "the tank is empty"):
                tempera.sample(command=f"{sys.executable} {path}",
                               parameters={"mu": "real"}, **SHORT)
        with self.assertRaisesRegex(tempera.InputError, "belong to command"):
            self.run_(workers=2)

    def test_compile(self):
        with tempfile.TemporaryDirectory() as home:
            path = tempera.compile(STAN, Path(home) / "model.so")
            model = tempera.Model(path, {"n": 4, "y": Y})
            self.assertEqual(model.param_names(), ["mu"])

    def test_xarray(self):
        try:
            import xarray
        except ImportError:
            self.skipTest("no xarray")
        run = self.run_()
        made = run.to_xarray()
        self.assertEqual(made["both"].dims,
                         ("chain", "draw", "both_dim_0", "both_dim_1"))
        self.assertEqual(made.attrs["log_z"], run.log_z)
        self.assertAlmostEqual(float(made["mu"].mean()), run["mu"].mean(), 12)
        with tempfile.TemporaryDirectory() as home:
            path = Path(home) / "made.nc"
            try:
                made.to_netcdf(path)
            except ValueError as problem:
                self.skipTest(str(problem))
            with xarray.open_dataset(path) as back:
                self.assertTrue((back["mu"].values == run["mu"]).all())

    def test_netcdf4_reads_the_runs_file(self):
        try:
            import netCDF4
        except ImportError:
            self.skipTest("no netCDF4")
        run = self.run_(netcdf=True)
        with netCDF4.Dataset(run.folder / "run.nc") as file:
            mu = file["posterior"]["mu"][:]
            self.assertTrue((np.asarray(mu) == run["mu"]).all())

    def test_arviz(self):
        """By a stand-in where it is not installed: what it is given."""
        seen = {}

        def from_dict(**groups):
            seen.update(groups)
            return types.SimpleNamespace(
                posterior=types.SimpleNamespace(attrs={}))
        stand_in = types.ModuleType("arviz")
        stand_in.from_dict = from_dict
        before = sys.modules.get("arviz")
        sys.modules["arviz"] = stand_in
        try:
            made = self.run_().to_arviz()
        finally:
            sys.modules.pop("arviz")
            if before:
                sys.modules["arviz"] = before
        self.assertEqual(seen["posterior"]["mu"].shape, (4, 400))
        self.assertEqual(seen["observed_data"]["y"].shape, (4,))
        self.assertIn("log_z", made.posterior.attrs)

    def test_model(self):
        model = tempera.Model(STAN, {"n": 4, "y": Y})
        self.assertEqual(model.param_names(), ["mu"])
        self.assertEqual((model.param_num(), model.param_unc_num()), (1, 1))
        like, pri = model.log_densities({"mu": 0.3})
        self.assertAlmostEqual(like, likelihood({"mu": 0.3}), 12)
        self.assertAlmostEqual(pri, prior({"mu": 0.3}), 12)
        value, gradient = model.log_density_gradient([0.3])
        self.assertAlmostEqual(value, like + pri, 12)
        self.assertAlmostEqual(gradient[0], (Y - 0.3).sum() - 0.3 / 4, 12)
        self.assertAlmostEqual(model.log_density([0.3], tau=0), pri, 12)
        many = model.log_density(np.array([[0.3], [1.0]]))
        self.assertEqual(many.shape, (2,))
        with self.assertRaises(tempera.InputError):
            model.log_density([1.0, 2.0])
        scale = tempera.Model("parameters { real<lower=0> s; } "
                              "model { s ~ exponential(1); }")
        self.assertAlmostEqual(scale.param_constrain([0.7])[0], math.exp(0.7))
        self.assertAlmostEqual(scale.param_unconstrain({"s": 2.0})[0],
                               math.log(2))
        self.assertAlmostEqual(scale.log_density([0.7]),
                               -math.exp(0.7) + 0.7, 12)
        self.assertAlmostEqual(scale.log_density([0.7], jacobian=False),
                               -math.exp(0.7), 12)
        self.assertTrue(scale.has_gradient())

    def test_check(self):
        self.assertIn("likelihood", tempera.check(STAN))
        self.assertTrue(tempera.check(STAN).sound)
        found = tempera.check(STAN, {"n": 4, "y": Y}, gradient=True, cost=True)
        for words in ("depends on data", "100 of 100 draws from the prior",
                      "gradient of the log likelihood: 5 slopes agree",
                      "cost of an evaluation"):
            self.assertIn(words, found)
        self.assertTrue(found.sound)
        never = tempera.check("parameters { real x; } model { "
                              "x ~ normal(0, 1); target += "
                              "negative_infinity(); }", {})
        self.assertIn("no start was found", never)
        self.assertFalse(never.sound)
        with self.assertRaisesRegex(tempera.InputError, "need the data"):
            tempera.check(STAN, gradient=True)

    def test_wrong_gradients_are_found(self):
        header = os.environ.get("TEMPERA_HEADER")
        if not header:
            self.skipTest("TEMPERA_HEADER does not say where tempera.h is")
        models = Path(header).parent.parent / "tests" / "models"
        with tempfile.TemporaryDirectory() as home:
            library = Path(home) / "wrong_slope.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-I",
                            Path(header).parent, models / "wrong_slope.c",
                            "-o", library], check=True)
            found = tempera.Model(library, {}).check_gradient()
            self.assertIn("DISAGREE", found)
            self.assertFalse(found.sound)
            self.assertFalse(tempera.check(library, {}, gradient=True).sound)
            self.assertIn("callbacks", tempera.check(library, {}))
            with self.assertRaisesRegex(tempera.InputError, "for Stan"):
                tempera.check(library, {}, cost=True)

    def test_a_call_that_does_not_come_back(self):
        """In a process of its own: its thread spins until that ends. Nor does a
        second Ctrl-C wait for it."""
        script = '''
import os, signal, sys, threading, time
import tempera
HANGS = """functions { real spin(real x, real y) {
  real z = x; while (z > 2.5) { z += 1e-300; } return x + 0 * y; } }
data { real y; } parameters { real x; }
model { x ~ normal(0, 1); target += spin(x, y); }"""
try:
    tempera.sample(HANGS, {"y": 1.0}, seed=1, eval_timeout=0.5,
                   output=sys.argv[1], progress=False)
except tempera.ModelError as problem:
    print(problem)

def press():
    for _ in range(2):
        time.sleep(1)
        os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
try:
    tempera.sample(HANGS, {"y": 1.0}, seed=1, progress=False)
except KeyboardInterrupt:
    print("interrupted")
'''
        with tempfile.TemporaryDirectory() as home:
            out = subprocess.run([sys.executable, "-c", script, home + "/run"],
                                 text=True, capture_output=True, check=True,
                                 timeout=120).stdout
            self.assertRegex(out, "eval_timeout = 0.5 s allows in "
                             "log_likelihood, chain [1-4], at x = [0-9.]+\n"
                             "interrupted")
            self.assertTrue(Path(home, "run", "config.json").exists())
        with self.assertRaisesRegex(tempera.InputError, "not for functions"):
            sample(eval_timeout=1)
        self.assertEqual(self.run_(eval_timeout=60).log_z, self.run_().log_z)

    def test_structs_are_those_of_the_header(self):
        """Sizes and last fields, as a C compiler has them."""
        from tempera import _library as library
        header = os.environ.get("TEMPERA_HEADER")
        if not header:
            self.skipTest("TEMPERA_HEADER does not say where tempera.h is")
        structs = {"tempera_model_spec": library.Spec,
                   "tempera_parameter": library.Parameter,
                   "tempera_options": library.Options,
                   "tempera_progress": library.Progress,
                   "tempera_run_request": library.Request,
                   "tempera_density": library.Density,
                   "tempera_context_settings": library.ContextSettings,
                   "tempera_command": library.Command,
                   "tempera_calibration": library.CalibrationRequest,
                   "tempera_call": library.Call,
                   "tempera_error": library.Error_}
        lines, wanted = [], []
        for name, struct in structs.items():
            for field, *_ in struct._fields_:
                if field.startswith("_"):
                    continue
                lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
                wanted.append(getattr(struct, field).offset)
            if struct is not library.Options:  # which has room for more
                lines.append(f'printf("%zu\\n", sizeof({name}));')
                wanted.append(ctypes.sizeof(struct))
        with tempfile.TemporaryDirectory() as home:
            source = Path(home) / "sizes.c"
            source.write_text("#include <stddef.h>\n#include <stdio.h>\n"
                              f'#include "{header}"\nint main(void) {{'
                              + "\n".join(lines) + "return 0; }")
            subprocess.run(["cc", source, "-o", source.with_suffix("")],
                           check=True)
            out = subprocess.run([source.with_suffix("")], text=True,
                                 capture_output=True, check=True).stdout
        found = [int(line) for line in out.split()]
        self.assertEqual(found, wanted)


if __name__ == "__main__":
    unittest.main()
