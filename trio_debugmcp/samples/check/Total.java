public class Total {
    public static void main(String[] args) {
        int total = 40;
        total += 2;
        System.out.println("total " + total); // stop: total is 42
    }
}
