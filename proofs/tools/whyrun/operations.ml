(** What a program calls and what has no body: integers, sequences, arrays, and the operations of
    [kernel.trusted.Tuple], by what their contracts say. *)

open Why3
open Value

let number operation = function
  | [ a; b ] -> Int (operation (integer a) (integer b))
  | _ -> stuck "two integers"

let relation operation = function
  | [ a; b ] -> Bool (operation (integer a) (integer b))
  | _ -> stuck "two integers"

let place found i =
  let i = BigInt.to_int (integer i) in
  if 0 <= i && i < Array.length found then i else stuck "element %d of %d" i (Array.length found)

let count found = Int (BigInt.of_int (Array.length found))

let part found i j =
  let i = BigInt.to_int (integer i) and j = BigInt.to_int (integer j) in
  if 0 <= i && i <= j && j <= Array.length found then Array.sub found i (j - i)
  else stuck "the part from %d to %d of %d" i j (Array.length found)

let natural n =
  let n = BigInt.to_int (integer n) in
  if n < 0 then stuck "a negative length" else n

let zero = Int BigInt.zero

let of_sequences name arguments =
  match (name, arguments) with
  | "length", [ Sequence s ] -> count s
  | "empty", [] -> Sequence [||]
  | "singleton", [ x ] -> Sequence [| x |]
  | "cons", [ x; Sequence s ] -> Sequence (Array.append [| x |] s)
  | "snoc", [ Sequence s; x ] -> Sequence (Array.append s [| x |])
  | "infix ++", [ Sequence s; Sequence t ] -> Sequence (Array.append s t)
  | "mixfix [..]", [ Sequence s; i; j ] -> Sequence (part s i j)
  | "mixfix [_..]", [ Sequence s; i ] -> Sequence (part s i (count s))
  | "mixfix [.._]", [ Sequence s; j ] -> Sequence (part s zero j)
  | _ -> stuck "seq.Seq.%s" name

let of_arrays name arguments =
  match (name, arguments) with
  | "length", [ Array a ] -> count a
  | "mixfix []", [ Array a; i ] -> a.(place a i)
  | "mixfix []<-", [ Array a; i; x ] ->
      a.(place a i) <- x;
      unit
  | "make", [ n; x ] -> Array (Array.make (natural n) x)
  | "empty", [ _ ] -> Array [||]
  | "copy", [ Array a ] -> Array (Array.copy a)
  | "append", [ Array a; Array b ] -> Array (Array.append a b)
  | "sub", [ Array a; i; n ] ->
      let i = BigInt.to_int (integer i) in
      Array (part a (Int (BigInt.of_int i)) (Int (BigInt.of_int (i + natural n))))
  | _ -> stuck "array.Array.%s" name

let rec equal a b =
  match (a, b) with
  | Int a, Int b -> BigInt.eq a b
  | Sequence s, Sequence t -> Array.length s = Array.length t && Array.for_all2 equal s t
  | _ -> stuck "values that are not compared"

let trusted name arguments =
  match (name, arguments) with
  | "ix", [ Sequence s; i ] -> s.(place s i)
  | "same", [ a; b ] -> Bool (equal a b)
  | "thaw", [ Sequence s ] -> Array (Array.copy s)
  | "freeze", [ Array a ] -> Sequence (Array.copy a)
  | "repeat", [ Array a; n ] -> Array (Array.concat (List.init (natural n) (fun _ -> a)))
  | "overwrite", [ Array a; i; j; Array b ] ->
      let places = part a i j in
      if Array.length places <> Array.length b then stuck "overwrite: as many elements as places";
      Array.blit b 0 a (BigInt.to_int (integer i)) (Array.length b);
      unit
  | _ -> stuck "kernel.trusted.Tuple.%s" name

let of_integers name arguments =
  match (name, arguments) with
  | "infix +", _ -> number BigInt.add arguments
  | "infix -", _ -> number BigInt.sub arguments
  | "infix *", _ -> number BigInt.mul arguments
  | "prefix -", [ a ] -> Int (BigInt.minus (integer a))
  | "infix =", _ -> relation BigInt.eq arguments
  | "infix <", _ -> relation BigInt.lt arguments
  | "infix <=", _ -> relation BigInt.le arguments
  | "infix >", _ -> relation BigInt.gt arguments
  | "infix >=", _ -> relation BigInt.ge arguments
  | "zero", [] -> zero
  | "one", [] -> Int BigInt.one
  | _ -> stuck "int.Int.%s" name

let of_bounds name arguments =
  match name with
  | "min" -> number BigInt.min arguments
  | "max" -> number BigInt.max arguments
  | _ -> stuck "int.MinMax.%s" name

let modules =
  [ ("seq.Seq.", of_sequences); ("array.Array.", of_arrays); ("kernel.trusted.Tuple.", trusted);
    ("int.Int.", of_integers); ("int.MinMax.", of_bounds) ]

(** The operation that a symbol is, if it is one. *)
let find (rs : Expr.rsymbol) =
  let of_module name (prefix, operation) =
    if String.starts_with ~prefix name then
      let n = String.length prefix in
      Some (operation (String.sub name n (String.length name - n)))
    else None
  in
  Option.bind (Name.resolved rs.rs_name) (fun name -> List.find_map (of_module name) modules)
