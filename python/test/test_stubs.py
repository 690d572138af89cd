# SPDX-License-Identifier: MIT
"""The type stubs have the names and signatures of the package, and each public name of it is there with a docstring."""

import ast
import importlib
import inspect
import os
import pkgutil
import unittest

import lade

INTERNAL = {"step", "packed"}  # of transforms: what the loader calls
FOLDER = os.path.dirname(lade.__file__)


def stub(module):
    path = os.path.join(FOLDER, *module.split(".")[1:])
    with open(path + "/__init__.pyi" if os.path.isdir(path) else path + ".pyi", encoding="utf-8") as file:
        return ast.parse(file.read()).body


def signature_of_stub(node):
    """That of the function without annotations."""
    for arg in ast.walk(node.args):
        if isinstance(arg, ast.arg):
            arg.annotation = None
    body = f"lambda {ast.unparse(node.args)}: None"
    return inspect.signature(eval(body))  # the text of our stub  # noqa: S307


def parameters(signature, named=True):
    """Name, kind and default of each parameter; for functions that operators call only how many there are."""
    found = [(None if p.kind is p.POSITIONAL_ONLY else p.name, p.kind.name.replace("_OR_KEYWORD", "").replace("_ONLY", ""), p.default)
             for p in signature.parameters.values()]
    plain = [p for p in found if p[1] != "KEYWORD"]  # the order of the others is free
    return plain + sorted(found[len(plain):], key=str) if named else len(found)


class Signatures(unittest.TestCase):
    modules = ["lade", "lade.ranks", "lade.transforms"]

    def check_function(self, where, node, real):
        try:
            found = inspect.signature(getattr(real, "__func__", real))
        except ValueError:
            self.fail(f"{where}: the extension gives it no signature")
        called = not node.name.startswith("__") or node.name in ("__init__", "__new__", "__dlpack__")
        expected, found = parameters(signature_of_stub(node), called), parameters(found, called)
        if called:
            if expected and expected[0][0] in ("self", "cls"):
                expected, found = expected[1:], found[1:]
            # "..." stands for a default that a stub cannot name.
            expected = [(*e[:2], f[2]) if e[2] is ... else e for e, f in zip(expected, found)] + expected[len(found):]
        self.assertEqual(expected, found, where)

    def check_class(self, where, node, real):
        fields = {item.target.id: item.value for item in node.body if isinstance(item, ast.AnnAssign)}
        if hasattr(real, "_fields"):
            defaults = {name: eval(ast.unparse(value)) for name, value in fields.items() if value}  # noqa: S307
            self.assertEqual((list(fields), defaults), (list(real._fields), real._field_defaults), where)
        functions = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        for name, item in functions.items():
            if name in ("__buffer__", "__getattr__"):  # of C
                continue
            member = inspect.getattr_static(real, name, None)
            self.assertIsNotNone(member, f"{where}.{name}: is only in the stub")
            is_property = any(ast.unparse(d) == "property" for d in item.decorator_list)
            self.assertEqual(is_property, inspect.isdatadescriptor(member), f"{where}.{name}: is a property in one of both")
            if not is_property:
                self.check_function(f"{where}.{name}", item, member)
        classes = [real] + [base for base in real.__bases__ if base is getattr(lade._lade, base.__name__, None)]  # with that of the extension
        own = {name for cls in classes for name in vars(cls) if not name.startswith("_")} - INTERNAL
        self.assertEqual(own - functions.keys() - fields.keys(), set(), f"{where}: not in the stub")

    def test_stubs(self):
        for module in self.modules:
            real = importlib.import_module(module)
            for node in stub(module):
                if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    continue
                with self.subTest(f"{module}.{node.name}"):
                    self.assertTrue(hasattr(real, node.name), f"{module}.{node.name}: is only in the stub")
                    check = self.check_class if isinstance(node, ast.ClassDef) else self.check_function
                    check(f"{module}.{node.name}", node, getattr(real, node.name))


class Names(unittest.TestCase):
    def test_public_names_are_in_the_stub(self):
        stubbed = {getattr(node, "name", None) for node in stub("lade")}
        imported = {alias.asname for node in stub("lade") if isinstance(node, ast.ImportFrom) for alias in node.names}
        self.assertEqual(set(lade.__all__) - stubbed - imported, set())

    def test_every_module_has_a_stub(self):
        for module in pkgutil.iter_modules(lade.__path__):
            if not module.name.startswith("_"):
                self.assertTrue(os.path.exists(os.path.join(FOLDER, module.name + ".pyi")), module.name)

    def test_help(self):
        """help(lade) has text for everything that a program uses."""
        for name in lade.__all__:
            real = getattr(lade, name)
            self.assertGreater(len(inspect.getdoc(real) or ""), 20, name)
            for member, value in vars(real).items() if inspect.isclass(real) and not issubclass(real, Exception) else ():
                if not member.startswith("_") and callable(getattr(value, "__func__", value)):
                    self.assertTrue(inspect.getdoc(getattr(real, member)), f"{name}.{member}")


# imports: torch
class Torch(Signatures, unittest.TestCase):
    modules = ["lade._adaptor", "lade.torch"]


# imports: jax
class Jax(Signatures, unittest.TestCase):
    modules = ["lade.jax"]


# imports: tensorflow
class TensorFlow(Signatures, unittest.TestCase):
    modules = ["lade.tensorflow"]


# imports: torch transformers accelerate
class HuggingFace(Signatures, unittest.TestCase):
    modules = ["lade.huggingface"]


if __name__ == "__main__":
    unittest.main()
